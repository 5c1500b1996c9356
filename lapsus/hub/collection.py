"""One collection on the Hub for all repos of lapsus that an organisation has: datasets and the Spaces of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lapsus.hub.errors import UploadError, diagnose_error, set_client_timeout

if TYPE_CHECKING:
    from huggingface_hub import HfApi

    from lapsus.hub.upload import RepoType

TITLE = "lapsus"
DESCRIPTION = "What real human input costs a language model: noisy benchmarks, and the metrics for them."
TAG = "lapsus"  # of the cards of datasets and of Spaces


@dataclass(frozen=True, slots=True)
class Collection:
    """The collection, and the repos in it; `str` gives the sentence for the command line.

    >>> print(Collection("https://huggingface.co/collections/org/lapsus-1f", ("org/rte",), ("org/sample",)))
    https://huggingface.co/collections/org/lapsus-1f: 1 added (org/rte), 1 there already
    """

    url: str
    added: tuple[str, ...]
    existing: tuple[str, ...]

    def __str__(self) -> str:
        names = f" ({', '.join(self.added)})" if self.added else ""
        return f"{self.url}: {len(self.added)} added{names}, {len(self.existing)} there already"


def update_collection(org: str, *, title: str = TITLE, token: str | None = None, timeout: float = 60.0) -> Collection:
    """Put every repo of `org` whose card has the tag lapsus into a collection, creating it if need be.

    What is in it already, and what others added, stays. Raises UploadError.
    """
    from huggingface_hub import HfApi

    api = HfApi(token=token)
    with set_client_timeout(timeout):
        try:
            repos = _list_repos(api, org)
            collection = api.create_collection(title, namespace=org, description=DESCRIPTION, exists_ok=True)
            existing = {(item.item_type, item.item_id) for item in collection.items}
            for repo_type, name in repos:
                if (repo_type, name) not in existing:
                    api.add_collection_item(collection.slug, name, repo_type, exists_ok=True)
        except UploadError:
            raise
        except Exception as error:
            cause, _ = diagnose_error(error, api, org, timeout)
            raise UploadError(
                f"the repos of {org} were not collected: {cause}; repeat lapsus collection {org}"
            ) from error
    added = tuple(name for repo_type, name in repos if (repo_type, name) not in existing)
    return Collection(collection.url, added, tuple(name for repo_type, name in repos if (repo_type, name) in existing))


def _list_repos(api: HfApi, org: str) -> list[tuple[RepoType, str]]:
    """Return the kinds and names of the repos of lapsus."""
    datasets: list[tuple[RepoType, str]] = [("dataset", repo.id) for repo in api.list_datasets(author=org, filter=TAG)]
    spaces: list[tuple[RepoType, str]] = [("space", repo.id) for repo in api.list_spaces(author=org, filter=TAG)]
    if not datasets and not spaces:
        raise UploadError(f"{org} has no repo whose card has the tag {TAG}; push one first, with lapsus push")
    return sorted(datasets) + sorted(spaces)
