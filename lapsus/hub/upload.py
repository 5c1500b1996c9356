"""Upload a built folder to the Hub as one commit, so that visitors never see a partial state.

`huggingface_hub.upload_folder` may spread a folder over several commits; `create_commit` does not. Large files are
sent before that commit and kept by the Hub, so a repeated upload continues where the last one broke off.

A data version is a tag: `v1.1.0` names the commit that brought its files, for `load_dataset(..., revision="v1.1.0")`.
What a tag names stays as it is: other data need another version.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from lapsus.hub.built_folder import CARD, miscounted, own_files
from lapsus.hub.hub_errors import UploadError, diagnosis, patience
from lapsus.kernel.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

Kind = Literal["dataset", "space"]
Gate = Literal["auto", "manual"]
KEPT = ".gitattributes"  # written by the Hub; large files break without it


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
    settings: tuple[str, ...] = ()  # what else was changed, such as "made private"

    def __str__(self) -> str:
        changed = (f"{_count(self.sent)} sent, {len(self.removed)} removed",) if self.sent or self.removed else ()
        done = changed + self.settings or ("nothing to change",)
        kept = f"; not of this build and left there: {shown(self.kept)}" if self.kept else ""
        return f"{self.url}: {', '.join(done)}{kept}"


def upload(
    folder: Path,
    repo_id: str,
    *,
    token: str | None = None,
    private: bool = False,
    gated: Gate | None = None,
    version: str | None = None,
    replace_version: bool = False,
    timeout: float = 60.0,
) -> Upload:
    """Make the dataset repo `repo_id` hold what `folder` holds, creating it if need be.

    `private` also makes a public repo private; nothing makes a private one public. `gated` lets only those in whom the
    Hub ("auto") or you ("manual") grant access. Configs and shards that the folder no longer has are removed; what
    others put there (LICENSE, figures) stays, and is named.

    The commit is tagged with `version`. Where that version is there with other data, nothing is sent, unless
    `replace_version` says that the tag shall move.

    Without a `token`, the one of HF_TOKEN or of `hf auth login` counts. `timeout` is how many seconds the Hub may be
    silent; huggingface_hub repeats most requests five times before it gives up. Raises UploadError.
    """
    _demand(folder, "README.md")
    if wrong := miscounted(folder):
        raise UploadError(f"{folder.name} was not uploaded to {repo_id}: {wrong}; build the folder again")
    wishes = _Wishes(private, gated, version, replace_version)
    return _send(folder, repo_id, "dataset", token, timeout, wishes)


def upload_space(
    folder: Path, repo_id: str, *, token: str | None = None, private: bool = False, timeout: float = 60.0
) -> Upload:
    """Make the Space `repo_id` hold the metric of `folder`, for `evaluate.load(repo_id)`; otherwise as `upload`."""
    _demand(folder, "README.md")
    _demand(folder, f"{repo_id.rpartition('/')[2]}.py")
    return _send(folder, repo_id, "space", token, timeout, _Wishes(private))


@dataclass(frozen=True, slots=True)
class _Wishes:
    """What an upload sets besides the files."""

    private: bool = False
    gated: Gate | None = None
    version: str | None = None
    replace_version: bool = False

    @property
    def tag(self) -> str:
        return f"v{self.version}" if self.version else ""


@dataclass(frozen=True, slots=True)
class _Main:
    """The state of the branch `main`, or of a tag."""

    commit: str
    files: dict[str, RepoFile]


def _send(folder: Path, repo_id: str, kind: Kind, token: str | None, timeout: float, wishes: _Wishes) -> Upload:
    from huggingface_hub import HfApi

    api = HfApi(token=token)
    local = _local_files(folder)
    with patience(timeout):
        done, commit = _sent(api, folder, local, repo_id, kind, wishes, timeout)
        try:
            tagged = _tag(api, repo_id, kind, wishes, commit, local)
        except Exception as error:
            cause, cure = diagnosis(error, api, repo_id, timeout)
            raise UploadError(
                f"{folder.name} was uploaded to {repo_id}, but not tagged {wishes.tag}: {cause}; {cure}"
            ) from error
    return replace(done, settings=done.settings + tagged)


def _sent(
    api: HfApi, folder: Path, local: dict[str, Path], repo_id: str, kind: Kind, wishes: _Wishes, timeout: float
) -> tuple[Upload, str]:
    """Send what differs; return what was done, and the commit that holds it."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    before: _Main | None = None
    settings: tuple[str, ...] = ()
    try:
        sdk = "gradio" if kind == "space" else None
        api.create_repo(repo_id, repo_type=kind, private=wishes.private, space_sdk=sdk, exist_ok=True)
        settings = tuple(_set(api, repo_id, kind, wishes))
        before = _main(api, repo_id, kind)
        _refuse_other_data(api, folder, local, repo_id, kind, wishes)
        sent, removed = _change(local, before, kind)
        kept = tuple(sorted(before.files.keys() - local.keys() - {*removed, KEPT}))
        if not sent and not removed:
            return Upload(_url(api, repo_id, kind, before), kept=kept, settings=settings), before.commit
        commit = api.create_commit(
            repo_id,
            [CommitOperationAdd(path, local[path]) for path in sent]
            + [CommitOperationDelete(path, is_folder=False) for path in removed],
            commit_message=f"Upload with lapsus{wishes.tag and f', data version {wishes.version}'}",
            repo_type=kind,
            parent_commit=before.commit,
        )
        return Upload(commit.commit_url, sent, removed, kept, settings), commit.oid
    except UploadError:
        raise
    except Exception as error:  # for every error, tell the user what reached the Hub
        now = _main_if_known(api, repo_id, kind)
        if before and now and _change(local, now, kind) == ((), ()):  # the commit arrived, but the answer was lost
            return Upload(_url(api, repo_id, kind, now), *_change(local, before, kind), settings=settings), now.commit
        cause, cure = diagnosis(error, api, repo_id, timeout)
        raise UploadError(
            f"{folder.name} was not uploaded to {repo_id}: {cause}; {_state(before, now)}; {cure}"
        ) from error


def _tagged(api: HfApi, repo_id: str, kind: Kind, tag: str) -> _Main | None:
    """Return the state that a tag names."""
    tags = api.list_repo_refs(repo_id, repo_type=kind).tags if tag else []
    return next((_main(api, repo_id, kind, each.target_commit) for each in tags if each.name == tag), None)


def _refuse_other_data(
    api: HfApi, folder: Path, local: dict[str, Path], repo_id: str, kind: Kind, wishes: _Wishes
) -> None:
    """Raise where the version is on the Hub with other rows."""
    there = _tagged(api, repo_id, kind, wishes.tag)
    different = _other_data(local, there) if there else []
    if different and not wishes.replace_version:
        raise UploadError(
            f"{folder.name} was not uploaded to {repo_id}: {wishes.tag} is there with other data "
            f"({shown(different, 3)}); build it as another version, or move the tag with --replace-version"
        )


def _tag(api: HfApi, repo_id: str, kind: Kind, wishes: _Wishes, commit: str, local: dict[str, Path]) -> tuple[str, ...]:
    """Let the tag of the version name the commit, unless it names one with the same rows."""
    if not wishes.tag:
        return ()
    there = _tagged(api, repo_id, kind, wishes.tag)
    if there:
        if not _other_data(local, there):
            return ()
        api.delete_tag(repo_id, tag=wishes.tag, repo_type=kind)
    api.create_tag(repo_id, tag=wishes.tag, revision=commit, repo_type=kind)
    return (f"tag {wishes.tag} moved" if there else f"tagged {wishes.tag}",)


def _other_data(local: dict[str, Path], there: _Main) -> list[str]:
    """Return the files of rows that differ; a card may be mended under its version."""
    ours = own_files({*local, *there.files}) - {CARD}
    return sorted(name for name in ours if name not in local or not _same(local[name], there.files.get(name)))


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


def _main(api: HfApi, repo_id: str, kind: Kind, revision: str | None = None) -> _Main:
    from huggingface_hub.hf_api import RepoFile

    commit = revision or str(api.repo_info(repo_id, repo_type=kind).sha)
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


def _set(api: HfApi, repo_id: str, kind: Kind, wishes: _Wishes) -> Iterator[str]:
    """Change the settings that are not as wished, before any file is sent; yield what was changed."""
    if not (wishes.private or wishes.gated):
        return
    now = api.repo_info(repo_id, repo_type=kind)
    if wishes.private and not now.private:
        api.update_repo_settings(repo_id, private=True, repo_type=kind)
        yield "made private"
    if wishes.gated and now.gated != wishes.gated:
        api.update_repo_settings(repo_id, gated=wishes.gated, repo_type=kind)
        yield f"gated ({wishes.gated})"


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
