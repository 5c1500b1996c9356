"""One collection on the Hub for all repos of lapsus that an organisation has: datasets and the Spaces of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lapsus.hub.hub_errors import UploadError, diagnosis, patience

if TYPE_CHECKING:
    from huggingface_hub import HfApi

    from lapsus.hub.upload import Kind

TITLE = "lapsus"
DESCRIPTION = "What real human input costs a language model: noisy benchmarks, and the metrics for them."
TAG = "lapsus"  # of the cards of datasets and of Spaces


@dataclass(frozen=True, slots=True)
class Collected:
    """The collection, and the repos in it; `str` gives the sentence for the command line.

    >>> print(Collected("https://huggingface.co/collections/org/lapsus-1f", ("org/rte",), ("org/sample",)))
    https://huggingface.co/collections/org/lapsus-1f: 1 added (org/rte), 1 there already
    """

    url: str
    added: tuple[str, ...]
    there: tuple[str, ...]

    def __str__(self) -> str:
        names = f" ({', '.join(self.added)})" if self.added else ""
        return f"{self.url}: {len(self.added)} added{names}, {len(self.there)} there already"


def collect(org: str, *, title: str = TITLE, token: str | None = None, timeout: float = 60.0) -> Collected:
    """Put every repo of `org` whose card has the tag lapsus into a collection, creating it if need be.

    What is in it already, and what others added, stays. Raises UploadError.
    """
    from huggingface_hub import HfApi

    api = HfApi(token=token)
    with patience(timeout):
        try:
            repos = _repos(api, org)
            made = api.create_collection(title, namespace=org, description=DESCRIPTION, exists_ok=True)
            there = {(item.item_type, item.item_id) for item in made.items}
            for kind, name in repos:
                if (kind, name) not in there:
                    api.add_collection_item(made.slug, name, kind, exists_ok=True)
        except UploadError:
            raise
        except Exception as error:
            cause, _ = diagnosis(error, api, org, timeout)
            raise UploadError(f"the repos of {org} were not collected: {cause}; repeat lapsus collect {org}") from error
    added = tuple(name for kind, name in repos if (kind, name) not in there)
    return Collected(made.url, added, tuple(name for kind, name in repos if (kind, name) in there))


def _repos(api: HfApi, org: str) -> list[tuple[Kind, str]]:
    """Return the kinds and names of the repos of lapsus."""
    datasets: list[tuple[Kind, str]] = [("dataset", each.id) for each in api.list_datasets(author=org, filter=TAG)]
    spaces: list[tuple[Kind, str]] = [("space", each.id) for each in api.list_spaces(author=org, filter=TAG)]
    if not datasets and not spaces:
        raise UploadError(f"{org} has no repo whose card has the tag {TAG}; push one first, with lapsus push")
    return sorted(datasets) + sorted(spaces)
