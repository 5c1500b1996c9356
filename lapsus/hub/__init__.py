"""Build dataset folders that the Hub and its viewer accept, and upload them.

`build_rows` builds a dataset from an author's own rows.
"""

from typing import TYPE_CHECKING

from lapsus.core.imports import make_lazy_getattr

if TYPE_CHECKING:
    from lapsus.hub.user_dataset import build_rows

__all__ = ["build_rows"]

__getattr__ = make_lazy_getattr(__name__, {"build_rows": "lapsus.hub.user_dataset"})
