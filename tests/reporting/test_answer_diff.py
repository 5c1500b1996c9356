"""The page's script marks what changed between two answers; its function runs in node, where there is one."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files

import pytest

NODE = shutil.which("node")
PAIRS = [
    ("It was built in 1889.", "It was finished in 1900, I think."),
    ('[{"name": "f", "arguments": {"a": 1}}]', '[{"name": "g", "arguments": {"a": 1, "b": 2}}]'),
    ("花呗怎么还款，我不知道。", "花呗如何还款，我 不知道！"),
    ("a b c d", "e f g h"),
    ("yes", "no"),
    ("word " * 300, "word " * 299),
]


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_the_stretches_of_two_answers_are_both_answers():
    script = files("lapsus.reporting.html").joinpath("templates", "examples.js").read_text(encoding="utf-8")
    function = script[script.index("const MAX_WORDS") : script.index("const appendStretches")]
    program = f"{function}\nconsole.log(JSON.stringify({json.dumps(PAIRS)}.map((pair) => compareAnswers(...pair))))"
    result = json.loads(subprocess.run([NODE, "-e", program], capture_output=True, check=True, text=True).stdout)
    assert result[4:] == [None, None]  # too short to be a text, too long to be compared
    for (before, after), stretches in zip(PAIRS[:4], result[:4], strict=True):
        sides = [[each if isinstance(each, str) else each[side] for each in stretches] for side in (0, 1)]
        assert ("".join(sides[0]), "".join(sides[1])) == (before, after)
    assert result[0] == ["It was ", ["built", "finished"], " in ", ["1889", "1900, I think"], "."]
