"""Upload a built folder to the Hub as one commit, so that visitors never see a partial state.

`huggingface_hub.upload_folder` may spread a folder over several commits; `create_commit` does not. Large files are
sent before that commit and kept by the Hub, so a repeated upload continues where the last one broke off.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lapsus.hub.built_folder import own_files
from lapsus.kernel.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

Kind = Literal["dataset", "space"]
AGAIN = "repeat the upload, it continues where it stopped"
KEPT = ".gitattributes"  # written by the Hub; large files break without it


class UploadError(OSError):
    """An upload failed: one sentence with the cause, what the Hub shows now, and the cure."""


@dataclass(frozen=True, slots=True)
class Upload:
    """The result of an upload; `str` gives the sentence for the command line.

    >>> print(Upload("https://huggingface.co/datasets/org/sample/commit/1f0c", sent=("README.md",)))
    https://huggingface.co/datasets/org/sample/commit/1f0c: 1 file sent, 0 removed
    >>> print(Upload("https://huggingface.co/datasets/org/sample/commit/1f0c"))
    https://huggingface.co/datasets/org/sample/commit/1f0c: nothing to change
    """

    url: str
    sent: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()  # files that others put there
    hidden: bool = False  # whether a public repo was made private

    def __str__(self) -> str:
        changed = f"{_count(self.sent)} sent, {len(self.removed)} removed" if self.sent or self.removed else ""
        done = [changed or ("" if self.hidden else "nothing to change"), "made private" if self.hidden else ""]
        kept = f"; not of this build and left there: {shown(self.kept)}" if self.kept else ""
        return f"{self.url}: {', '.join(filter(None, done))}{kept}"


def upload(
    folder: Path, repo_id: str, *, token: str | None = None, private: bool = False, timeout: float = 60.0
) -> Upload:
    """Make the dataset repo `repo_id` hold what `folder` holds, creating it if need be.

    `private` also makes a public repo private; nothing makes a private one public. Configs and shards that the folder
    no longer has are removed; what others put there (LICENSE, figures) stays, and is named.

    Without a `token`, the one of HF_TOKEN or of `hf auth login` counts. `timeout` is how many seconds the Hub may be
    silent; huggingface_hub repeats most requests five times before it gives up. Raises UploadError.
    """
    _demand(folder, "README.md")
    return _send(folder, repo_id, "dataset", token, timeout, private=private)


def upload_space(
    folder: Path, repo_id: str, *, token: str | None = None, private: bool = False, timeout: float = 60.0
) -> Upload:
    """Make the Space `repo_id` hold the metric of `folder`, for `evaluate.load(repo_id)`; otherwise as `upload`."""
    _demand(folder, "README.md")
    _demand(folder, f"{repo_id.rpartition('/')[2]}.py")
    return _send(folder, repo_id, "space", token, timeout, private=private)


@dataclass(frozen=True, slots=True)
class _Main:
    """The state of the branch `main`."""

    commit: str
    files: dict[str, RepoFile]


def _send(folder: Path, repo_id: str, kind: Kind, token: str | None, timeout: float, *, private: bool) -> Upload:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    api = HfApi(token=token)
    local = _local_files(folder)
    before: _Main | None = None
    with _patience(timeout):
        try:
            sdk = "gradio" if kind == "space" else None
            api.create_repo(repo_id, repo_type=kind, private=private, space_sdk=sdk, exist_ok=True)
            hidden = private and _hide(api, repo_id, kind)
            before = _main(api, repo_id, kind)
            sent, removed = _change(local, before, kind)
            kept = tuple(sorted(before.files.keys() - local.keys() - {*removed, KEPT}))
            if not sent and not removed:
                return Upload(_url(api, repo_id, kind, before), kept=kept, hidden=hidden)
            commit = api.create_commit(
                repo_id,
                [CommitOperationAdd(path, local[path]) for path in sent]
                + [CommitOperationDelete(path, is_folder=False) for path in removed],
                commit_message="Upload with lapsus",
                repo_type=kind,
                parent_commit=before.commit,
            )
            return Upload(commit.commit_url, sent, removed, kept, hidden)
        except Exception as error:  # for every error, tell the user what reached the Hub
            now = _main_if_known(api, repo_id, kind)
            if before and now and _change(local, now, kind) == ((), ()):  # the commit arrived, but the answer was lost
                return Upload(_url(api, repo_id, kind, now), *_change(local, before, kind))
            cause, cure = _diagnosis(error, api, repo_id, timeout)
            raise UploadError(
                f"{folder.name} was not uploaded to {repo_id}: {cause}; {_state(before, now)}; {cure}"
            ) from error


def _demand(folder: Path, file: str) -> None:
    if not (folder / file).is_file():
        raise UploadError(f"{folder} has no {file}; build the folder with `lapsus build`, or name another one")


def _local_files(folder: Path) -> dict[str, Path]:
    """Return the files to publish by their path in the repo, without hidden files and bytecode."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        name: path
        for name, path in found.items()
        if not any(part.startswith(".") or part == "__pycache__" for part in name.split("/"))
    }


def _main(api: HfApi, repo_id: str, kind: Kind) -> _Main:
    from huggingface_hub.hf_api import RepoFile

    commit = str(api.repo_info(repo_id, repo_type=kind).sha)
    tree = api.list_repo_tree(repo_id, repo_type=kind, revision=commit, recursive=True)
    return _Main(commit, {entry.path: entry for entry in tree if isinstance(entry, RepoFile)})


def _main_if_known(api: HfApi, repo_id: str, kind: Kind) -> _Main | None:
    try:
        return _main(api, repo_id, kind)
    except Exception:  # noqa: BLE001 - the upload's own error is the one to tell of
        return None


def _change(local: dict[str, Path], main: _Main, kind: Kind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paths to send and to remove: in a dataset only files of lapsus, in a Space all that are not local."""
    sent = tuple(name for name, path in local.items() if not _same(path, main.files.get(name)))
    ours = own_files(main.files) if kind == "dataset" else main.files.keys() - {KEPT}
    return sent, tuple(name for name in main.files if name in ours and name not in local)


def _hide(api: HfApi, repo_id: str, kind: Kind) -> bool:
    """Make a public repo private; tell whether it was public."""
    if api.repo_info(repo_id, repo_type=kind).private:
        return False
    api.update_repo_settings(repo_id, private=True, repo_type=kind)
    return True


def _same(path: Path, remote: RepoFile | None) -> bool:
    """Return whether the Hub holds exactly this file, by the SHA-1 of a git blob or the SHA-256 of an LFS object."""
    if remote is None or remote.size != path.stat().st_size:
        return False
    with path.open("rb") as file:
        if remote.lfs:
            return hashlib.file_digest(file, "sha256").hexdigest() == remote.lfs.sha256
        blob = b"blob %d\0" % remote.size + file.read()
    return hashlib.sha1(blob, usedforsecurity=False).hexdigest() == remote.blob_id


def _url(api: HfApi, repo_id: str, kind: Kind, main: _Main) -> str:
    return f"{api.endpoint}/{kind}s/{repo_id}/commit/{main.commit}"


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    """Set the timeout of huggingface_hub's client, which has none by default.

    When it cannot connect at all, huggingface_hub makes a new client, which does not have this timeout.
    """
    from huggingface_hub import get_session

    client = get_session()
    usual = client.timeout
    client.timeout = seconds
    try:
        yield
    finally:
        client.timeout = usual


def _count(files: tuple[str, ...]) -> str:
    return f"{len(files)} file" + ("s" if len(files) != 1 else "")


def _state(before: _Main | None, now: _Main | None) -> str:
    """Return what reached the Hub; `before` is None when even the first listing failed."""
    if now is None:
        return "no file was sent" if before is None else "main shows either the old files or the new ones"
    files = tuple(sorted(now.files.keys() - {KEPT}))
    visible = "no files" if not files else f"{_count(files)} ({', '.join(files[:3])}{', …' if files[3:] else ''})"
    if before and before.commit != now.commit:
        return f"main shows {visible} of somebody else's commit"
    return f"main shows {visible}, as before the upload"


def _diagnosis(error: Exception, api: HfApi, repo_id: str, timeout: float) -> tuple[str, str]:
    """Return the cause of a failed upload, and the cure."""
    chain = tuple(_chain(error))
    for step in chain:
        if (response := getattr(step, "response", None)) is not None:
            message = " ".join((getattr(step, "server_message", None) or "without a reason").split())
            return _refusal(response.status_code, message, api, repo_id)
    kinds = {parent.__name__ for step in chain for parent in type(step).__mro__}  # by name: httpx is not imported
    known = {
        "OfflineModeIsEnabled": ("HF_HUB_OFFLINE forbids every connection", "unset it and repeat the upload"),
        "HFValidationError": (f"{repo_id!r} is no name of a repo", "name it like organisation/dataset"),
        "ConnectError": (f"{api.endpoint} cannot be reached", f"check the network and HF_ENDPOINT, then {AGAIN}"),
        "TimeoutException": (f"the Hub was silent for {timeout:g} s", AGAIN),
        "TransportError": ("the connection to the Hub broke off", AGAIN),
    }
    unknown = " ".join(str(error).split()) or type(error).__name__
    return next((known[kind] for kind in known if kind in kinds), (unknown, AGAIN))


def _refusal(status: int, message: str, api: HfApi, repo_id: str) -> tuple[str, str]:
    """Return the meaning of an HTTP error of the Hub, and the cure."""
    tokens = f"{api.endpoint}/settings/tokens"
    if status == 401:
        cause = "the Hub does not accept the token" if api.token or _has_token() else "no token was given"
        return cause, f"make one that may write at {tokens}, set HF_TOKEN to it, and repeat the upload"
    if status == 403:
        owner = repo_id.partition("/")[0]
        return f"the token may not write to {owner!r}", f"take one that may, from {tokens}, and repeat the upload"
    if status in {409, 412}:
        return f"somebody else changed {repo_id} meanwhile", "look at that change, then repeat the upload"
    return f"the Hub answered {status} ({message})", AGAIN


def _has_token() -> bool:
    from huggingface_hub import get_token

    return get_token() is not None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its chain of causes; a failed worker thread wraps the original error."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
