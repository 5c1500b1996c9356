"""What real human input costs a language model.

>>> import lapsus
>>> clean = lapsus.Track("bert", "clean", [{"id": "a", "score": 1}, {"id": "b", "score": 1}])
>>> noisy = lapsus.Track("bert", "keyboard.1", [{"id": "a", "score": 0}, {"id": "b", "score": 1}])
>>> lapsus.measure([clean, noisy]).summary[0].averages.micro_drop.value
0.5
"""

from importlib.metadata import version
from typing import TYPE_CHECKING

from lapsus.core.imports import make_lazy_getattr

if TYPE_CHECKING:
    from lapsus.core.types import Track
    from lapsus.evaluation.runner import run
    from lapsus.hub.build import build_dataset
    from lapsus.hub.upload import upload
    from lapsus.jobs.perturb_corpus import perturb_corpus
    from lapsus.jobs.perturb_file import perturb_file
    from lapsus.reporting.analysis.measure import measure
    from lapsus.reporting.check import check
    from lapsus.reporting.fidelity import fidelity
    from lapsus.reporting.report import report
    from lapsus.reporting.score import score
    from lapsus.reporting.tracks import read_tracks

__all__ = [
    "Track",
    "__version__",
    "build_dataset",
    "check",
    "fidelity",
    "measure",
    "perturb_corpus",
    "perturb_file",
    "read_tracks",
    "report",
    "run",
    "score",
    "upload",
]

__version__ = version("lapsus")

__getattr__ = make_lazy_getattr(
    __name__,
    {
        "Track": "lapsus.core.types",
        "check": "lapsus.reporting.check",
        "fidelity": "lapsus.reporting.fidelity",
        "measure": "lapsus.reporting.analysis.measure",
        "perturb_corpus": "lapsus.jobs.perturb_corpus",
        "perturb_file": "lapsus.jobs.perturb_file",
        "build_dataset": "lapsus.hub.build",
        "read_tracks": "lapsus.reporting.tracks",
        "report": "lapsus.reporting.report",
        "run": "lapsus.evaluation.runner",
        "score": "lapsus.reporting.score",
        "upload": "lapsus.hub.upload",
    },
)
