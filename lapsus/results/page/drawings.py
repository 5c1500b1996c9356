"""Draw plots in other processes, where there are enough of them to be worth it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from lapsus.kernel.interrupts import later_interrupts
from lapsus.results.page.plots import Drawing

FEW = 8  # plots that are drawn sooner than processes start
MOST_WORKERS = 4


@contextmanager
def drawn(plots: Sequence[Callable[[], Drawing]]) -> Iterator[Iterator[Drawing]]:
    """Start to draw plots, each a call that can be pickled, and give them in their order, the same in any process.

    Processes are forked, which Linux alone does safely: started anew, they would run the user's script once more.

    >>> from functools import partial
    >>> from lapsus.results.page.plots import curves
    >>> with drawn([partial(curves, name, "Nothing", [], (0.0, 1.0), "dose", 1.0) for name in "ab"]) as drawings:
    ...     ['id="a-' in drawing.svg for drawing in drawings]
    [True, False]
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    if len(plots) < FEW or cores == 1:
        yield map(_one, plots)
        return
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_svg  # noqa: F401 - once, before the processes that all need them

    with ProcessPoolExecutor(min(cores, MOST_WORKERS), get_context("fork")) as pool:
        with later_interrupts():
            drawings = pool.map(_one, plots)
        try:
            yield drawings
        finally:
            pool.shutdown(cancel_futures=True)


def _one(plot: Callable[[], Drawing]) -> Drawing:
    return plot()
