"""The text that a model reads, in the forms of the paper (5.1 and Appendix F.1)."""

from __future__ import annotations

from collections.abc import Mapping

ANY = "any"
TAGGED = "candidate: {candidate} language: {tag}"
INPUTS: Mapping[str, str] = {
    "within": "candidate: {candidate} reference: {reference} language: {tag}",
    "qe": "candidate: {candidate} source: {source} language: {tag}",
    "qe-ref": "candidate: {candidate} reference: {reference} source: {source} language: {tag}",
}


def tag(language: str, region: str = "") -> str:
    """Return the tag of a dialect, or of a language in general.

    >>> tag("zh", "TW"), tag("zh")
    ('zh-TW', 'zh-any')
    """
    return f"{language}-{region or ANY}"
