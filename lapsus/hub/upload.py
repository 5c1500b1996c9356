"""Upload a built folder to the Hub as one commit, so that visitors never see a partial state.

`huggingface_hub.upload_folder` may spread a folder over several commits; `create_commit` does not. Large files are
sent before that commit and kept by the Hub, so a repeated upload continues where the last one broke off.

A data version is a tag: `v1.1.0` names the commit that brought its files, for `load_dataset(..., revision="v1.1.0")`.
What a tag names stays as it is: other data need another version.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from importlib.metadata import metadata
from importlib.metadata import version as installed_version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from lapsus import metrics
from lapsus.core.messages import format_list
from lapsus.core.types import StrPath
from lapsus.hub.built_folder import CARD, find_row_count_mismatch, select_own_files
from lapsus.hub.card_merge import merge_cards, split_card
from lapsus.hub.errors import UploadError, diagnose_error, set_client_timeout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

RepoType = Literal["dataset", "space"]
Gate = Literal["auto", "manual"]
MANIFEST = ".lapsus.json"  # what an upload sent: the names of its files, and the card as it was generated
ANY_ORG = "<org>"  # in a card, before it is known where it goes
CITED = "lapsus (CITATION.cff in its repository)"  # in a card
TAG_LINE = "- lapsus"  # in the card of a Space
GITATTRIBUTES = ".gitattributes"  # written by the Hub; large files break without it


@dataclass(frozen=True, slots=True)
class UploadResult:
    """The result of an upload; `str` gives the sentence for the command line.

    >>> print(UploadResult("https://huggingface.co/datasets/org/sample/commit/1f0c", uploaded=("README.md",)))
    https://huggingface.co/datasets/org/sample/commit/1f0c: 1 file sent, 0 removed
    >>> print(UploadResult("https://huggingface.co/datasets/org/sample/commit/1f0c"))
    https://huggingface.co/datasets/org/sample/commit/1f0c: nothing to change
    """

    url: str
    uploaded: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    foreign_files: tuple[str, ...] = ()  # files that others put there
    settings: tuple[str, ...] = ()  # what else was changed, such as "made private"

    def __str__(self) -> str:
        names = f" ({format_list(self.removed, 50)})" if self.removed else ""
        changed = (
            (f"{_format_count(self.uploaded)} sent, {len(self.removed)} removed{names}",)
            if self.uploaded or self.removed
            else ()
        )
        actions = changed + self.settings or ("nothing to change",)
        notice = f"; not of this build and left there: {format_list(self.foreign_files)}" if self.foreign_files else ""
        return f"{self.url}: {', '.join(actions)}{notice}"


def upload(
    folder: StrPath,
    repo_id: str,
    *,
    token: str | None = None,
    private: bool = False,
    gated: Gate | None = None,
    version: str | None = None,
    replace_version: bool = False,
    timeout: float = 60.0,
) -> UploadResult:
    """Make the dataset repo `repo_id` hold what `folder` holds, creating it if need be.

    `private` also makes a public repo private; nothing makes a private one public. `gated` lets only those in whom the
    Hub ("auto") or you ("manual") grant access. What the last upload sent and the folder no longer has is removed, and
    named; what others put there (configs, LICENSE, figures) stays, and so do their changes to the card.

    The commit is tagged with `version`. Where that version is there with other data, or a newer one, nothing is sent,
    unless `replace_version` says that the tag shall move.

    Without a `token`, the one of HF_TOKEN or of `hf auth login` counts. `timeout` is how many seconds the Hub may be
    silent; huggingface_hub repeats most requests five times before it gives up. Raises UploadError.
    """
    folder = Path(folder)
    _require_file(folder, CARD)
    if mismatch := find_row_count_mismatch(folder):
        raise UploadError(f"{folder.name} was not uploaded to {repo_id}: {mismatch}; build the folder again")
    card_version = split_card((folder / CARD).read_text(encoding="utf-8"))[0].get("version")
    options = _UploadOptions(private, gated, version, replace_version, card_version and str(card_version))
    return _upload(folder, _list_local_files(folder), repo_id, "dataset", token, timeout, options)


def upload_space(
    folder: StrPath,
    repo_id: str,
    *,
    token: str | None = None,
    private: bool = False,
    package: StrPath | None = None,
    timeout: float = 60.0,
) -> UploadResult:
    """Make the Space `repo_id` hold the metric of `folder`, for `evaluate.load(repo_id)`; otherwise as `upload`.

    A metric of lapsus also gets its app, which is not in the folder, and a tag such as lapsus-1.0.0, by which
    `evaluate.load(repo_id, revision=...)` pins it. It installs that version from PyPI, or `package`, a wheel that
    is sent along: before the release there is no other.
    """
    folder, package = Path(folder), Path(package) if package else None
    _require_file(folder, CARD)
    _require_file(folder, f"{repo_id.rpartition('/')[2]}.py")
    files = _list_local_files(folder)
    options = _UploadOptions(private)
    with TemporaryDirectory() as scratch:
        if folder.resolve().parent == metrics.FOLDER.resolve():
            from lapsus.hub.metric_space import render_space_files  # imports evaluate

            name = folder.resolve().name
            for file, text in render_space_files(name, repo_id, package.name if package else None).items():
                files[file] = Path(scratch) / file
                files[file].write_text(text, encoding="utf-8")
            options = replace(options, space_tag=f"lapsus-{installed_version('lapsus')}")
        if package:
            files[package.name] = package
        return _upload(folder, files, repo_id, "space", token, timeout, options)


@dataclass(frozen=True, slots=True)
class _UploadOptions:
    """What an upload sets besides the files."""

    private: bool = False
    gated: Gate | None = None
    version: str | None = None
    replace_version: bool = False
    card_version: str | None = None  # what the card says, also of a part, which has no tag
    space_tag: str = ""  # of a metric; `evaluate` itself looks for v and its own version

    @property
    def tag(self) -> str:
        return f"v{self.version}" if self.version else self.space_tag


@dataclass(frozen=True, slots=True)
class _RemoteState:
    """The state of the branch `main`, or of a tag."""

    commit: str
    files: dict[str, RepoFile]


@dataclass(frozen=True, slots=True)
class _Repo:
    """A repo on the Hub, which may not exist yet."""

    api: HfApi
    id: str
    type: RepoType

    def read_state(self, revision: str | None = None) -> _RemoteState:
        """Return the files of a commit, by default the newest one."""
        from huggingface_hub.hf_api import RepoFile

        commit = revision or str(self.api.repo_info(self.id, repo_type=self.type).sha)
        tree = self.api.list_repo_tree(self.id, repo_type=self.type, revision=commit, recursive=True)
        return _RemoteState(commit, {entry.path: entry for entry in tree if isinstance(entry, RepoFile)})

    def find_tag(self, tag: str) -> _RemoteState | None:
        """Return the state that a tag names."""
        tags = self.api.list_repo_refs(self.id, repo_type=self.type).tags if tag else []
        return next((self.read_state(ref.target_commit) for ref in tags if ref.name == tag), None)

    def format_commit_url(self, state: _RemoteState) -> str:
        return f"{self.api.endpoint}/{self.type}s/{self.id}/commit/{state.commit}"


def _upload(
    folder: Path,
    local: dict[str, Path],
    repo_id: str,
    repo_type: RepoType,
    token: str | None,
    timeout: float,
    options: _UploadOptions,
) -> UploadResult:
    from huggingface_hub import HfApi

    repo = _Repo(HfApi(token=token), repo_id, repo_type)
    with set_client_timeout(timeout):
        result, commit = _upload_changes(repo, folder, local, options, timeout)
        try:
            tag_changes = _move_tag(repo, options.tag, commit, local)
        except Exception as error:
            cause, cure = diagnose_error(error, repo.api, repo_id, timeout)
            raise UploadError(
                f"{folder.name} was uploaded to {repo_id}, but not tagged {options.tag}: {cause}; {cure}"
            ) from error
    return replace(result, settings=result.settings + tag_changes)


def _upload_changes(
    repo: _Repo, folder: Path, local: dict[str, Path], options: _UploadOptions, timeout: float
) -> tuple[UploadResult, str]:
    """Send what differs; return what was done, and the commit that holds it."""
    before: _RemoteState | None = None
    plan: _Plan | None = None
    settings: tuple[str, ...] = ()
    with TemporaryDirectory() as scratch:
        try:
            sdk = "gradio" if repo.type == "space" else None
            repo.api.create_repo(repo.id, repo_type=repo.type, private=options.private, space_sdk=sdk, exist_ok=True)
            settings = tuple(_apply_settings(repo, options))
            before = repo.read_state()
            earlier = _read_earlier(repo, before)
            _check_versions(repo, folder, local, before, earlier, options)
            plan = _Plan(_add_records(repo, local, earlier, Path(scratch)), earlier)
            return _commit_changes(repo, plan, before, options, settings)
        except UploadError:
            raise
        except Exception as error:  # for every error, tell the user what reached the Hub
            current = _try_read_state(repo)
            if before and plan and current and plan.compare(current) == ((), ()):
                result = plan.describe(repo.format_commit_url(current), before, settings)
                return result, current.commit  # the commit arrived, but the answer was lost
            cause, cure = diagnose_error(error, repo.api, repo.id, timeout)
            raise UploadError(
                f"{folder.name} was not uploaded to {repo.id}: {cause}; {_describe_state(before, current)}; {cure}"
            ) from error


def _commit_changes(
    repo: _Repo, plan: _Plan, before: _RemoteState, options: _UploadOptions, settings: tuple[str, ...]
) -> tuple[UploadResult, str]:
    """Send what differs as one commit, where anything does."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    uploads, removals = plan.compare(before)
    if not uploads and not removals:
        return plan.describe(repo.format_commit_url(before), before, settings), before.commit
    commit = repo.api.create_commit(
        repo.id,
        [CommitOperationAdd(path, plan.files[path]) for path in uploads]
        + [CommitOperationDelete(path, is_folder=False) for path in removals],
        commit_message="Upload with lapsus" + (f", data version {options.version}" if options.version else ""),
        repo_type=repo.type,
        parent_commit=before.commit,
    )
    return plan.describe(commit.commit_url, before, settings), commit.oid


def _check_versions(
    repo: _Repo,
    folder: Path,
    local: dict[str, Path],
    before: _RemoteState,
    earlier: _Earlier,
    options: _UploadOptions,
) -> None:
    """Raise where the upload would replace newer data, files of others, or what a tag names."""
    if not options.replace_version:
        _check_newer(repo, folder, options.card_version, earlier)
        _check_foreign_files(repo, folder, local, before, earlier)
        if options.version:
            _check_same_data(repo, folder, local, options.tag)


def _check_same_data(repo: _Repo, folder: Path, local: dict[str, Path], tag: str) -> None:
    """Raise where the version is on the Hub with other rows."""
    tagged_state = repo.find_tag(tag)
    different = _find_changed_data(repo, local, tagged_state) if tagged_state else []
    if different:
        raise UploadError(
            f"{folder.name} was not uploaded to {repo.id}: {tag} is there with other data "
            f"({format_list(different, 3)}); build it as another version, or move the tag with --replace-version"
        )


def _move_tag(repo: _Repo, tag: str, commit: str, local: dict[str, Path]) -> tuple[str, ...]:
    """Let the tag of the version name the commit, unless it names one with the same rows."""
    if not tag:
        return ()
    tagged_state = repo.find_tag(tag)
    if tagged_state:
        if not _find_changed_data(repo, local, tagged_state):
            return ()
        repo.api.delete_tag(repo.id, tag=tag, repo_type=repo.type)
    repo.api.create_tag(repo.id, tag=tag, revision=commit, repo_type=repo.type)
    return (f"tag {tag} moved" if tagged_state else f"tagged {tag}",)


def _find_changed_data(repo: _Repo, local: dict[str, Path], tagged_state: _RemoteState) -> list[str]:
    """Return the files of rows that differ; a card may be mended under its version, and others may add files."""
    has_list = MANIFEST in tagged_state.files
    listed = _read_earlier(repo, tagged_state).files if has_list else select_own_files(tagged_state.files)
    is_space = repo.type == "space"
    own_names = ({*local} | {*listed} if is_space else select_own_files(local) | select_own_files(listed)) - {CARD}
    return sorted(
        name for name in own_names if name not in local or not _is_same_file(local[name], tagged_state.files.get(name))
    )


def _require_file(folder: Path, file: str) -> None:
    if not (folder / file).is_file():
        raise UploadError(f"{folder} has no {file}; build the folder with `lapsus build`, or name another one")


def _list_local_files(folder: Path) -> dict[str, Path]:
    """Return the files to publish by their path in the repo, without hidden files and bytecode."""
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        name: path
        for name, path in files.items()
        if not any(part.startswith(".") or part == "__pycache__" for part in name.split("/"))
    }


def _try_read_state(repo: _Repo) -> _RemoteState | None:
    try:
        return repo.read_state()
    except Exception:  # noqa: BLE001 - the upload's own error is the one to tell of
        return None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The files that a repo shall hold, and what lapsus sent earlier."""

    files: dict[str, Path]
    earlier: _Earlier

    def compare(self, remote: _RemoteState) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the paths to send and to remove: of others' files none."""
        uploads = tuple(name for name, path in self.files.items() if not _is_same_file(path, remote.files.get(name)))
        return uploads, tuple(name for name in remote.files if name in self.earlier.files and name not in self.files)

    def describe(self, url: str, before: _RemoteState, settings: tuple[str, ...]) -> UploadResult:
        """Return what the upload changed; the list that lapsus keeps is not worth a word."""
        uploads, removals = self.compare(before)
        foreign_files = tuple(sorted(before.files.keys() - self.files.keys() - {*removals, GITATTRIBUTES}))
        named = tuple(name for name in uploads if name != MANIFEST)
        return UploadResult(url, named, removals, foreign_files, settings)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What the last upload of lapsus sent, and the card as it is now."""

    files: frozenset[str] = frozenset()
    base_card: str | None = None  # as it was generated
    card: str | None = None


def _read_earlier(repo: _Repo, state: _RemoteState) -> _Earlier:
    """Return what the last upload of lapsus listed; a repo without a list has nothing of ours to remove."""
    card = _read_remote(repo, state, CARD)
    if MANIFEST not in state.files:
        is_ours = bool(split_card(card or "")[0].get("lapsus")) or (repo.type == "space" and TAG_LINE in (card or ""))
        return _Earlier(card=None if is_ours else card)
    try:
        content = json.loads(_read_remote(repo, state, MANIFEST) or "{}")
        return _Earlier(frozenset(content["files"]), str(content["card"]), card)
    except (ValueError, TypeError, KeyError):  # somebody else's
        return _Earlier(base_card="", card=card)


def _read_remote(repo: _Repo, state: _RemoteState, name: str) -> str | None:
    """Return a text file of a commit."""
    if name not in state.files:
        return None
    from huggingface_hub import get_session
    from huggingface_hub.utils import (  # type: ignore[attr-defined] # public, but not in __all__
        build_hf_headers,
        hf_raise_for_status,
    )

    url = f"{repo.api.endpoint}/{repo.type}s/{repo.id}/resolve/{state.commit}/{name}"
    response = get_session().get(url, headers=build_hf_headers(token=repo.api.token), follow_redirects=True)
    hf_raise_for_status(response)
    return response.content.decode("utf-8", errors="replace")


def fill_card(card: str, org: str) -> str:
    """Return a card that names the organisation of its repo, and links the project.

    >>> fill_card('load_dataset("<org>/rte")', "me")
    'load_dataset("me/rte")'
    """
    urls = dict(url.split(", ", 1) for url in metadata("lapsus").get_all("Project-URL") or ())
    link = f"[lapsus]({urls['Homepage']})" if "Homepage" in urls else "lapsus"
    return card.replace(ANY_ORG, org).replace(CITED, CITED.replace("lapsus", link, 1))


def _add_records(repo: _Repo, local: dict[str, Path], earlier: _Earlier, scratch: Path) -> dict[str, Path]:
    """Return the files with the merged card, which names the repo, and with the list of what lapsus sends."""
    card = fill_card(local[CARD].read_text(encoding="utf-8"), repo.id.partition("/")[0])
    manifest = {"files": sorted(local), "card": card}
    merged = card if earlier.card is None else merge_cards(earlier.base_card, card, earlier.card)
    records = {MANIFEST: json.dumps(manifest, ensure_ascii=False, indent=0), CARD: merged}
    for name, text in records.items():
        (scratch / name).write_text(text, encoding="utf-8")
    return local | {name: scratch / name for name in records}


def _check_newer(repo: _Repo, folder: Path, version: str | None, earlier: _Earlier) -> None:
    """Raise where the Hub holds a newer version of the data."""
    there = split_card(earlier.card or "")[0].get("version")
    if version and there and _parse_version(str(there)) > _parse_version(version):
        raise UploadError(
            f"{folder.name} was not uploaded to {repo.id}: version {there} is there, and this is {version}; "
            "build the newer one, or go back with --replace-version"
        )


def _parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _check_foreign_files(
    repo: _Repo, folder: Path, local: dict[str, Path], before: _RemoteState, earlier: _Earlier
) -> None:
    """Raise where a file would replace one that somebody else put there."""
    if earlier.base_card is None:
        return
    replaced = [
        name
        for name, path in local.items()
        if name in before.files
        and name not in earlier.files
        and name != CARD
        and not _is_same_file(path, before.files[name])
    ]
    if replaced:
        raise UploadError(
            f"{folder.name} was not uploaded to {repo.id}: somebody else put {format_list(replaced, 3)} there; "
            "call your config otherwise, or replace them with --replace-version"
        )


def _apply_settings(repo: _Repo, options: _UploadOptions) -> Iterator[str]:
    """Change the settings that are not as wished, before any file is sent; yield what was changed."""
    if not (options.private or options.gated):
        return
    info = repo.api.repo_info(repo.id, repo_type=repo.type)
    if options.private and not info.private:
        repo.api.update_repo_settings(repo.id, private=True, repo_type=repo.type)
        yield "made private"
    if options.gated and info.gated != options.gated:
        repo.api.update_repo_settings(repo.id, gated=options.gated, repo_type=repo.type)
        yield f"gated ({options.gated})"


def _is_same_file(path: Path, remote: RepoFile | None) -> bool:
    """Return whether the Hub holds exactly this file, by the SHA-1 of a git blob or the SHA-256 of an LFS object."""
    if remote is None or remote.size != path.stat().st_size:
        return False
    with path.open("rb") as file:
        if remote.lfs:
            return hashlib.file_digest(file, "sha256").hexdigest() == remote.lfs.sha256
        blob = b"blob %d\0" % remote.size + file.read()
    return hashlib.sha1(blob, usedforsecurity=False).hexdigest() == remote.blob_id


def _format_count(files: tuple[str, ...]) -> str:
    return f"{len(files)} file" + ("s" if len(files) != 1 else "")


def _describe_state(before: _RemoteState | None, current: _RemoteState | None) -> str:
    """Return what reached the Hub; `before` is None when even the first listing failed."""
    if current is None:
        return "no file was sent" if before is None else "main shows either the old files or the new ones"
    files = tuple(sorted(current.files.keys() - {GITATTRIBUTES, MANIFEST}))
    visible = (
        "no files" if not files else f"{_format_count(files)} ({', '.join(files[:3])}{', …' if files[3:] else ''})"
    )
    if before and before.commit != current.commit:
        return f"main shows {visible} of somebody else's commit"
    return f"main shows {visible}, as before the upload"
