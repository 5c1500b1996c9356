"""What real human input costs a language model.

>>> import lapsus
>>> clean = lapsus.Track("bert", "clean", [{"id": "a", "score": 1}, {"id": "b", "score": 1}])
>>> noisy = lapsus.Track("bert", "keyboard.1", [{"id": "a", "score": 0}, {"id": "b", "score": 1}])
>>> lapsus.measure([clean, noisy]).summary[0].averages.micro_drop.value
0.5
"""

from importlib.metadata import version
from typing import TYPE_CHECKING

from lapsus.kernel.lazy import lazy

if TYPE_CHECKING:
    from lapsus.corpora.perturb_corpus import perturb_corpus
    from lapsus.corpora.perturb_file import perturb_file
    from lapsus.hub.publish import publish
    from lapsus.hub.upload import upload
    from lapsus.results.fidelity import fidelity
    from lapsus.results.measuring.measure import measure
    from lapsus.results.report import report
    from lapsus.results.score import score
    from lapsus.results.tracks import Track, read_tracks
    from lapsus.running.runner import run

__all__ = [
    "Track",
    "__version__",
    "fidelity",
    "measure",
    "perturb_corpus",
    "perturb_file",
    "publish",
    "read_tracks",
    "report",
    "run",
    "score",
    "upload",
]

__version__ = version("lapsus")

__getattr__ = lazy(
    __name__,
    {
        "Track": "lapsus.results.tracks",
        "fidelity": "lapsus.results.fidelity",
        "measure": "lapsus.results.measuring.measure",
        "perturb_corpus": "lapsus.corpora.perturb_corpus",
        "perturb_file": "lapsus.corpora.perturb_file",
        "publish": "lapsus.hub.publish",
        "read_tracks": "lapsus.results.tracks",
        "report": "lapsus.results.report",
        "run": "lapsus.running.runner",
        "score": "lapsus.results.score",
        "upload": "lapsus.hub.upload",
    },
)
