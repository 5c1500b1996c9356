"""Tasks of inspect: a file with one task per track, each over the rows that stand beside it."""

from __future__ import annotations

from pathlib import Path

from lapsus.running.data import Data, safe

HEAD = '''"""Tasks of inspect, one per track; written by `lapsus tasks --for inspect`.

    inspect eval tasks.py@{first} --model PROVIDER/NAME
"""

from pathlib import Path

from inspect_ai import task

from lapsus.running.exports.inspect_plugin import exported

HERE = Path(__file__).parent
'''

EACH = '''

@task(name="{name}")
def {function}():
    """The track {track}."""
    return exported(HERE, "{track}")
'''


def write(data: Data, folder: Path) -> None:
    """Write `tasks.py`."""
    functions = {track: safe(f"{data.task.name}_{track}").replace("-", "_").replace(".", "_") for track in data.tracks}
    parts = [HEAD.format(first=f"{data.task.name}_{next(iter(functions))}")]
    parts += [
        EACH.format(name=f"{data.task.name}_{track}", function=function, track=track)
        for track, function in functions.items()
    ]
    (folder / "tasks.py").write_text("".join(parts), encoding="utf-8")
