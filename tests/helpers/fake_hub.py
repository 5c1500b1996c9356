"""A Hub on the loopback: what huggingface_hub, datasets and evaluate ask of huggingface.co, kept in memory.

Modelled: repos with commits, branches and tags; LFS objects; byte ranges; tokens and what they may write; private
and gated repos; `parent_commit` conflicts; lists of repos by owner and by tag of the card; collections; the pages of a
file tree; requests that fail, break off or take their time.
Not modelled: Xet storage (clients set HF_HUB_DISABLE_XET=1), redirects to a CDN, multipart uploads, pull requests,
asking for access to a gated repo, rate limits, and the real Hub's opinion of a card: `validate-yaml` looks at its size.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

import yaml

DATE = "2026-01-01T00:00:00.000Z"
USER = "tester"
WRITE_TOKEN = "hf_may_write"  # noqa: S105 - known to this Hub alone
READ_TOKEN = "hf_may_read"  # noqa: S105 - likewise
LARGE = (".arrow", ".bin", ".gz", ".parquet", ".png", ".safetensors", ".zip")  # what .gitattributes sends to LFS


class Logged(NamedTuple):
    """One request and the status it was answered with (0: the connection was dropped)."""

    method: str
    path: str
    status: int


@dataclass(slots=True)
class Fault:
    """Fail requests of `method` whose path contains the pattern `path`: let `skip` of them pass, then fail `times`.

    `delay` seconds pass before the answer, which is `status`, or a dropped connection: "before" the request took
    effect, or "after" it did, when only the answer is lost. With a delay alone the answer is right, but late.
    """

    method: str
    path: str
    times: int = 1
    skip: int = 0
    status: int | None = None
    delay: float = 0.0
    drop: Literal["before", "after"] | None = None


@dataclass(slots=True)
class Repo:
    """Commits are whole trees; a branch or a tag is the name of a commit."""

    kind: str
    name: str
    private: bool = False
    sdk: str | None = None
    gated: str | bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, branch: str, add: Mapping[str, bytes], delete: tuple[str, ...], title: str) -> str:
        """Return the id of a new commit on `branch`."""
        files = {
            path: data
            for path, data in self.commits.get(self.refs.get(branch, ""), {}).items()
            if not any(path == gone or path.startswith(gone.rstrip("/") + "/") for gone in delete)
        }
        sha = git_oid(f"{self.kind}/{self.name}/{len(self.commits)}/{title}".encode())
        self.commits[sha] = {**files, **add}
        self.refs[branch] = sha
        return sha


class Hub:
    """The state behind the server: what tests look at, and where they arrange faults."""

    def __init__(self) -> None:
        self.url = ""
        self.repos: dict[tuple[str, str], Repo] = {}
        self.objects: dict[str, bytes] = {}
        self.collections: dict[str, dict[str, Any]] = {}  # by slug
        self.log: list[Logged] = []
        self.faults: list[Fault] = []
        self.tokens = {WRITE_TOKEN: frozenset({USER, "org"}), READ_TOKEN: frozenset[str]()}
        self.page_size = 1000
        self.lock = threading.RLock()

    def create(self, kind: str, name: str, *, private: bool = False, sdk: str | None = None) -> Repo:
        """Return a new repo of `kind` ("datasets", "spaces", "models") with its first commit."""
        repo = self.repos[kind, name] = Repo(kind, name, private, sdk)
        repo.commit(
            "main", {".gitattributes": b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"}, (), "initial commit"
        )
        return repo

    def files(self, kind: str, name: str, ref: str = "main") -> dict[str, bytes]:
        """Return what a visitor of the repo sees."""
        repo = self.repos[kind, name]
        return repo.commits[(repo.refs | repo.tags)[ref]]

    def requests(self, method: str, path: str = "") -> list[Logged]:
        """Return the logged requests of `method` whose path contains the pattern `path`."""
        return [seen for seen in self.log if seen.method == method and re.search(path, seen.path)]

    def fault_of(self, method: str, path: str) -> Fault | None:
        """Return the fault that this request meets, and count it."""
        for fault in self.faults:
            if not fault.times or fault.method != method or not re.search(fault.path, path):
                continue
            if fault.skip:
                fault.skip -= 1
            else:
                fault.times -= 1
                return fault
        return None


@dataclass(frozen=True, slots=True)
class Request:
    """One request, with the named parts of its path."""

    hub: Hub
    method: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: bytes
    parts: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body or b"{}")

    @property
    def url(self) -> str:
        """Where this repo lives on the web."""
        kind = self.parts.get("kind") or "models"
        return f"{self.hub.url}/{'' if kind == 'models' else kind + '/'}{self.parts['repo']}"

    def namespaces(self) -> frozenset[str] | None:
        """Return what the caller may write to; None is an anonymous caller."""
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and token not in self.hub.tokens:
            raise Refused(401, "Invalid credentials in Authorization header")
        return self.hub.tokens[token] if token else None

    def repo(self) -> Repo:
        """Return the repo that the path names, if the caller may see it."""
        known = self.namespaces() is not None
        repo = self.hub.repos.get((self.parts.get("kind") or "models", self.parts["repo"]))
        if repo is None or (repo.private and not known):
            if known:
                raise Refused(404, "Repository not found", "RepoNotFound")
            raise Refused(401, "Invalid username or password.", "RepoNotFound")
        return repo

    def writable(self) -> Repo:
        """Return the repo, if the caller may write to it."""
        self.demand(self.parts["repo"].split("/")[0], "Authorization error.")
        return self.repo()

    def demand(self, namespace: str, refusal: str) -> None:
        """Refuse a caller who may not write to `namespace`."""
        mine = self.namespaces()
        if mine is None:
            raise Refused(401, "Invalid username or password.")
        if namespace not in mine:
            raise Refused(403, refusal)

    def commit_of(self, repo: Repo) -> str:
        """Return the commit that the path's revision (a branch, a tag, a commit or its beginning) names."""
        revision = unquote(self.parts.get("rev") or "main")
        for names in (repo.refs, repo.tags):
            if revision in names:
                return names[revision]
        for sha in repo.commits:
            if len(revision) >= 7 and sha.startswith(revision):
                return sha
        raise Refused(404, f"Invalid rev id: {revision}", "RevisionNotFound")


@dataclass(frozen=True, slots=True)
class Answer:
    """Bytes, or anything that becomes JSON."""

    content: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


MOST_YAML = 60_000  # the Hub's own limit is not published; cards of 139 KB and more were met with 413


class Refused(Exception):  # noqa: N818 - it is an answer, not a fault
    """An answer other than success, with the headers that the clients read."""

    def __init__(self, status: int, message: str, code: str = "", **facts: str) -> None:
        headers = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
        if status == 401:
            headers["WWW-Authenticate"] = 'Bearer realm="Authentication required", charset="UTF-8"'
        self.answer = Answer({"error": message, **facts}, status, headers)


Handling = Callable[[Request], Answer]
ROUTES: list[tuple[tuple[str, ...], re.Pattern[str], Handling]] = []
REPO = r"(?P<repo>[^/]+/[^/]+)"
API = r"/api/(?P<kind>models|datasets|spaces)/" + REPO
WEB = r"/(?:(?P<kind>datasets|spaces)/)?" + REPO
REV = r"/(?P<rev>[^/]+)"


def route(methods: str, pattern: str) -> Callable[[Handling], Handling]:
    """Answer `methods` on paths of the shape `pattern` with the function below."""

    def keep(handling: Handling) -> Handling:
        ROUTES.append((tuple(methods.split()), re.compile(pattern), handling))
        return handling

    return keep


def git_oid(data: bytes) -> str:
    """Name a blob as git does."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def sha256(data: bytes) -> str:
    """Name an LFS object."""
    return hashlib.sha256(data).hexdigest()


def is_large(path: str) -> bool:
    """Tell whether a file is kept as an LFS object."""
    return path.endswith(LARGE)


def file_entry(path: str, data: bytes) -> dict[str, Any]:
    """Describe a file of the tree; an LFS file is known to git by its pointer."""
    entry = {
        "type": "file",
        "path": path,
        "size": len(data),
        "oid": git_oid(data),
        "lastCommit": {"id": "0" * 40, "title": "commit", "date": DATE},
        "securityFileStatus": None,
    }
    if is_large(path):
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(data)}\nsize {len(data)}\n".encode()
        entry["oid"] = git_oid(pointer)
        entry["lfs"] = {"oid": sha256(data), "size": len(data), "pointerSize": len(pointer)}
    return entry


def folder_entry(path: str) -> dict[str, Any]:
    """Describe a folder of the tree."""
    return {"type": "directory", "path": path, "size": 0, "oid": git_oid(path.encode())}


def card_tags(repo: Repo) -> list[str]:
    """Return the tags that the YAML of a repo's card names."""
    card = repo.commits[repo.refs["main"]].get("README.md", b"").decode()
    data = yaml.safe_load(card.split("---\n")[1]) if card.startswith("---\n") else {}
    return list(data.get("tags") or [])


def repo_card(repo: Repo, sha: str) -> dict[str, Any]:
    """Describe a repo at a commit."""
    return {
        "_id": git_oid(repo.name.encode())[:24],
        "id": repo.name,
        "author": repo.name.split("/")[0],
        "sha": sha,
        "private": repo.private,
        "gated": repo.gated,
        "disabled": False,
        "tags": card_tags(repo),
        "downloads": 0,
        "likes": 0,
        "lastModified": DATE,
        "createdAt": DATE,
        "sdk": repo.sdk,
        "siblings": [
            {"rfilename": path, "size": len(data), "blobId": git_oid(data)}
            for path, data in sorted(repo.commits[sha].items())
        ],
    }


@route("GET", r"/api/whoami-v2")
def whoami(ask: Request) -> Answer:
    mine = ask.namespaces()
    if mine is None:
        raise Refused(401, "Invalid username or password.")
    role = "write" if mine else "read"
    orgs = [{"name": name} for name in sorted(mine - {USER})]
    return Answer(
        {"type": "user", "name": USER, "orgs": orgs, "auth": {"accessToken": {"role": role, "displayName": "t"}}}
    )


@route("POST", r"/api/validate-yaml")
def validate_yaml(ask: Request) -> Answer:
    if len(ask.json["content"].encode()) > MOST_YAML:
        raise Refused(413, "Payload Too Large")
    return Answer({"errors": [], "warnings": []})


@route("POST", r"/api/repos/create")
def create_repo(ask: Request) -> Answer:
    wish = ask.json
    kind, owner = (wish.get("type") or "model") + "s", wish.get("organization") or USER
    ask.demand(owner, f'You don\'t have the rights to create a {kind[:-1]} under the namespace "{owner}"')
    name = f"{owner}/{wish['name']}"
    url = f"{ask.hub.url}/{'' if kind == 'models' else kind + '/'}{name}"
    if (kind, name) in ask.hub.repos:
        message = f"You already created this {kind[:-1]} repo"
        return Answer({"error": message, "url": url}, 409, {"X-Error-Message": message})
    private = bool(wish.get("private")) or wish.get("visibility") == "private"
    ask.hub.create(kind, name, private=private, sdk=wish.get("sdk"))
    return Answer({"url": url, "name": name, "id": name})


@route("GET HEAD", API + f"(?:/revision{REV})?")
def repo_info(ask: Request) -> Answer:
    repo = ask.repo()
    return Answer(repo_card(repo, ask.commit_of(repo)))


@route("PUT", API + "/settings")
def change_settings(ask: Request) -> Answer:
    repo, wish = ask.writable(), ask.json
    if "visibility" in wish:
        repo.private = wish["visibility"] == "private"
    repo.gated = wish.get("gated", repo.gated)
    return Answer({})


@route("GET", API + "/refs")
def refs(ask: Request) -> Answer:
    repo = ask.repo()
    named = {
        kind: [{"name": name, "ref": f"refs/{kind}/{name}", "targetCommit": sha} for name, sha in names.items()]
        for kind, names in (("heads", repo.refs), ("tags", repo.tags))
    }
    return Answer({"branches": named["heads"], "converts": [], "tags": named["tags"]})


@route("POST", API + f"/branch{REV}")
def create_branch(ask: Request) -> Answer:
    repo, name = ask.writable(), unquote(ask.parts["rev"])
    target = ask.json.get("startingPoint") or repo.refs["main"]
    if name in repo.refs:
        raise Refused(409, f"Reference already exists: {name}")
    repo.refs[name] = repo.refs.get(target, target)
    return Answer({})


@route("POST", API + f"/tag{REV}")
def create_tag(ask: Request) -> Answer:
    repo, name = ask.writable(), ask.json["tag"]
    if name in repo.tags:
        raise Refused(409, f"Tag reference exists already: {name}")
    repo.tags[name] = ask.commit_of(repo)
    return Answer({})


@route("DELETE", API + f"/tag{REV}")
def delete_tag(ask: Request) -> Answer:
    repo, name = ask.writable(), unquote(ask.parts["rev"])
    if name not in repo.tags:
        raise Refused(404, f"No tag {name}", "RevisionNotFound")
    del repo.tags[name]
    return Answer({})


@route("GET", r"/api/(?P<kind>models|datasets|spaces)")
def list_repos(ask: Request) -> Answer:
    known = ask.namespaces() or frozenset[str]()
    found = [
        repo_card(repo, repo.refs["main"])
        for (kind, _), repo in sorted(ask.hub.repos.items())
        if kind == ask.parts["kind"]
    ]
    return Answer(
        [
            each
            for each in found
            if ask.query.get("author") in {None, each["author"]}
            and (not each["private"] or each["author"] in known)
            and ("filter" not in ask.query or ask.query["filter"] in each["tags"])
        ]
    )


COLLECTION = r"/api/collections/(?P<slug>[^/]+/[^/]+)"


@route("POST", r"/api/collections")
def create_collection(ask: Request) -> Answer:
    wish = ask.json
    owner, title = wish["namespace"], wish["title"]
    ask.demand(owner, f"You may not write to {owner}")
    stem = re.sub(r"\W+", "-", title.lower())
    slug = f"{owner}/{stem}-{sha256(f'{owner}/{title}'.encode())[:24]}"
    if slug in ask.hub.collections:
        raise Refused(409, "This collection already exists", slug=slug)
    made = {"slug": slug, "title": title, "owner": {"name": owner}, "items": [], "private": wish.get("private", False)}
    made |= {"description": wish.get("description"), "lastUpdated": DATE, "position": 0, "theme": "blue", "upvotes": 0}
    ask.hub.collections[slug] = made
    return Answer(made)


@route("GET", COLLECTION)
def get_collection(ask: Request) -> Answer:
    return Answer(known_collection(ask))


@route("POST", COLLECTION + "/items")
def add_to_collection(ask: Request) -> Answer:
    held, item = known_collection(ask), ask.json["item"]
    ask.demand(held["owner"]["name"], "You may not write to this collection")
    if (item["type"] + "s", item["id"]) not in ask.hub.repos:
        raise Refused(404, f"{item['type']} {item['id']} not found")
    if any((each["type"], each["id"]) == (item["type"], item["id"]) for each in held["items"]):
        raise Refused(409, "Already in this collection")
    note = {"text": ask.json["note"]} if "note" in ask.json else None
    held["items"].append(
        {**item, "_id": sha256(item["id"].encode())[:24], "position": len(held["items"]), "note": note}
    )
    return Answer(held)


def known_collection(ask: Request) -> dict[str, Any]:
    """Return the collection that the path names."""
    if ask.parts["slug"] not in ask.hub.collections:
        raise Refused(404, "Collection not found")
    return ask.hub.collections[ask.parts["slug"]]


@route("GET", API + f"/tree{REV}(?:/(?P<path>.*))?")
def tree(ask: Request) -> Answer:
    repo = ask.repo()
    sha = ask.commit_of(repo)
    folder = unquote(ask.parts.get("path") or "").strip("/")
    start = folder + "/" if folder else ""
    deep = ask.query.get("recursive", "false").lower() in {"true", "1"}
    files = {path: data for path, data in sorted(repo.commits[sha].items()) if path.startswith(start)}
    if start and not files:
        raise Refused(404, f'{folder} does not exist on "{sha}"', "EntryNotFound")
    folders: set[str] = set()
    entries = []
    for path, data in files.items():
        steps = path.removeprefix(start).split("/")
        folders |= {start + "/".join(steps[:depth]) for depth in range(1, len(steps) if deep else min(len(steps), 2))}
        if deep or len(steps) == 1:
            entries.append(file_entry(path, data))
    entries = [folder_entry(path) for path in sorted(folders)] + entries
    begin = int(ask.query.get("cursor", 0))
    end = begin + ask.hub.page_size
    headers = {}
    if end < len(entries):
        path = f"/api/{repo.kind}/{repo.name}/tree/{ask.parts['rev']}" + (f"/{quote(folder)}" if folder else "")
        headers["Link"] = f'<{ask.hub.url}{path}?{urlencode({**ask.query, "cursor": end})}>; rel="next"'
    return Answer(entries[begin:end], headers=headers)


@route("POST", API + f"/paths-info{REV}")
def paths_info(ask: Request) -> Answer:
    repo = ask.repo()
    files = repo.commits[ask.commit_of(repo)]
    form = ask.json if ask.body.startswith(b"{") else parse_qs(ask.body.decode())
    entries = []
    for path in form.get("paths", []):
        if path in files:
            entries.append(file_entry(path, files[path]))
        elif any(file.startswith(path.rstrip("/") + "/") for file in files):
            entries.append(folder_entry(path))
    return Answer(entries)


@route("POST", API + f"/preupload{REV}")
def preupload(ask: Request) -> Answer:
    repo = ask.writable()
    files = repo.commits[ask.commit_of(repo)]

    def mode(path: str) -> dict[str, Any]:
        known = files.get(path)
        oid = None if known is None else sha256(known) if is_large(path) else git_oid(known)
        return {
            "path": path,
            "uploadMode": "lfs" if is_large(path) else "regular",
            "shouldIgnore": False,
            **({"oid": oid} if oid else {}),
        }

    return Answer({"files": [mode(file["path"]) for file in ask.json["files"]]})


@route("POST", WEB + r"\.git/info/lfs/objects/batch")
def lfs_batch(ask: Request) -> Answer:
    ask.writable()

    def instruction(oid: str, size: int) -> dict[str, Any]:
        if oid in ask.hub.objects:
            return {"oid": oid, "size": size}
        return {"oid": oid, "size": size, "actions": {"upload": {"href": f"{ask.hub.url}/_lfs/{oid}", "header": {}}}}

    return Answer({"transfer": "basic", "objects": [instruction(o["oid"], o["size"]) for o in ask.json["objects"]]})


@route("PUT", r"/_lfs/(?P<oid>[0-9a-f]{64})")
def lfs_put(ask: Request) -> Answer:
    if sha256(ask.body) != ask.parts["oid"]:
        raise Refused(400, "the object is not what its name says")
    ask.hub.objects[ask.parts["oid"]] = ask.body
    return Answer()


@route("POST", API + f"/commit{REV}")
def commit(ask: Request) -> Answer:
    repo, branch = ask.writable(), unquote(ask.parts["rev"])
    ask.commit_of(repo)
    add: dict[str, bytes] = {}
    delete: list[str] = []
    title = ""
    for line in ask.body.splitlines():
        key, value = (item := json.loads(line))["key"], item["value"]
        if key == "header":
            title = value["summary"]
            if value.get("parentCommit") not in {None, repo.refs[branch]}:
                raise Refused(412, "A commit has happened since. Please refresh and try again.")
        elif key == "file":
            add[value["path"]] = base64.b64decode(value["content"])
        elif key == "lfsFile":
            if value["oid"] not in ask.hub.objects:
                raise Refused(400, f"LFS object {value['oid']} was not uploaded")
            add[value["path"]] = ask.hub.objects[value["oid"]]
        else:
            delete.append(value["path"])
    sha = repo.commit(branch, add, tuple(delete), title)
    return Answer({"success": True, "commitOid": sha, "commitUrl": f"{ask.url}/commit/{sha}"})


@route("GET HEAD", WEB + f"/(?:resolve|raw){REV}/(?P<path>.+)")
def resolve(ask: Request) -> Answer:
    repo = ask.repo()
    if repo.gated and repo.name.split("/")[0] not in (ask.namespaces() or ()) and ask.parts["path"] != "README.md":
        raise Refused(
            403, f"Access to dataset {repo.name} is restricted and you are not in the authorized list.", "GatedRepo"
        )
    sha, path = ask.commit_of(repo), unquote(ask.parts["path"])
    data = repo.commits[sha].get(path)
    if data is None:
        raise Refused(404, "Entry not found", "EntryNotFound")
    etag = sha256(data) if is_large(path) else git_oid(data)
    headers = {"ETag": f'"{etag}"', "X-Repo-Commit": sha, "Accept-Ranges": "bytes"}
    if is_large(path):
        headers |= {"X-Linked-Etag": f'"{etag}"', "X-Linked-Size": str(len(data))}
    if wish := re.fullmatch(r"bytes=(\d*)-(\d*)", ask.headers.get("Range") or ""):
        first, last = wish.groups()
        begin = int(first) if first else max(0, len(data) - int(last))
        end = min(int(last), len(data) - 1) if first and last else len(data) - 1
        if begin >= len(data):
            return Answer(status=416, headers={"Content-Range": f"bytes */{len(data)}"})
        return Answer(data[begin : end + 1], 206, headers | {"Content-Range": f"bytes {begin}-{end}/{len(data)}"})
    return Answer(data, headers=headers)


@route("GET", r"/(?:info|parquet)")
def viewer(ask: Request) -> Answer:
    """Answer for datasets-server, the viewer's own host, of which `datasets` asks what it knows of a repo."""
    raise Refused(404, f"The dataset viewer has not seen {ask.query['dataset']} yet")


class Handler(BaseHTTPRequestHandler):
    """HTTP plumbing: read, find the route, meet a fault, answer, log."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement
    wbufsize = -1
    hub: Hub

    def log_message(self, *args: Any) -> None:
        """Stay quiet: `Hub.log` is the log."""

    def do(self) -> None:
        body = self.read_body()
        fault = self.hub.fault_of(self.command, self.path)
        if fault and fault.delay:
            time.sleep(fault.delay)
        if fault and fault.drop == "before":
            self.drop()
        elif fault and fault.status:
            self.answer(Refused(fault.status, "a fault that the test arranged").answer)
        else:
            answer = self.handle_request(body)
            if fault and fault.drop:
                self.drop()
            else:
                self.answer(answer)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do  # noqa: N815 - the names http.server asks for

    def handle_request(self, body: bytes) -> Answer:
        url = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(url.query).items()}
        for methods, pattern, handling in ROUTES:
            if self.command in methods and (match := pattern.fullmatch(url.path)):
                with self.hub.lock:
                    try:
                        return handling(
                            Request(self.hub, self.command, query, self.headers, body, match.groupdict(default=""))
                        )
                    except Refused as refused:
                        return refused.answer
        return Refused(404, f"the double has no route {self.command} {url.path}").answer

    def read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self, answer: Answer) -> None:
        raw = isinstance(answer.content, bytes)
        body = answer.content if raw else json.dumps(answer.content).encode()
        self.hub.log.append(Logged(self.command, self.path, answer.status))
        with suppress(ConnectionError):  # the client may have lost patience
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/octet-stream" if raw else "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    def drop(self) -> None:
        self.hub.log.append(Logged(self.command, self.path, 0))
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def serve() -> Iterator[Hub]:
    """Run a Hub on a free port of the loopback."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
