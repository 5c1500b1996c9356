"""Build dataset folders that the Hub and its viewer accept, and upload them.

`make` builds an author's own rows: `from lapsus.hub import make`.
"""

from typing import TYPE_CHECKING

from lapsus.kernel.lazy import lazy

if TYPE_CHECKING:
    from lapsus.hub.own_rows import make

__all__ = ["make"]

__getattr__ = lazy(__name__, {"make": "lapsus.hub.own_rows"})
