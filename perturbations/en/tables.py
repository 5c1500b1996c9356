"""The packed tables of English that lapsus ships, in `data/lexicon`; `build.py` there makes them."""

from __future__ import annotations

import lzma
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "lexicon"


def table(name: str) -> str:
    r"""Return the text of a packed table.

    >>> table("wordnet.adv").partition("\n")[0]
    'a_cappella'
    """
    return lzma.decompress((FOLDER / f"{name}.xz").read_bytes()).decode()
