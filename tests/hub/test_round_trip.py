"""The real clients against a Hub on the loopback: what is published comes back, and what fails says so."""

from __future__ import annotations

import shutil
import socket
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import fake_hub
import pytest
import small_folder
from click.testing import CliRunner
from fake_hub import Fault
from huggingface_hub import CommitOperationAdd, HfApi, constants, get_session
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status
from paths import ROOT

import lapsus
from lapsus.cli.main import main
from lapsus.hub.collection import update_collection
from lapsus.hub.errors import RETRY_HINT, diagnose_error
from lapsus.hub.metric_space import render_app
from lapsus.hub.upload import MANIFEST, UploadError, _list_local_files, fill_card, upload, upload_space

STRANGER = "hf_of_nobody"
TimeoutException = type("TimeoutException", (Exception,), {})  # as the client of huggingface_hub calls it
AGREEMENT = '''"""How often two lists agree."""

import datasets
import evaluate

from .score import share


class Agreement(evaluate.Metric):
    """Share of equal pairs."""

    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description="", citation="", features=datasets.Features({"predictions": text, "references": text})
        )

    def _compute(self, predictions, references):
        return {"agreement": share(predictions, references)}
'''
SCORE = "def share(left, right):\n    return sum(a == b for a, b in zip(left, right, strict=True)) / len(left)\n"
CLEAN_FILE = "clean/test-00000-of-00001.parquet"
METRICS = [script.parent for script in sorted(ROOT.glob("metrics/*/*.py")) if script.stem == script.parent.name]
SPACE_CARD = "---\ntitle: Agreement\nsdk: gradio\napp_file: app.py\ntags: [evaluate, metric]\n---\n\n# Agreement\n"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return a built dataset, its next version (other rows, one config less) and a metric with a helper file."""
    first, second, metric = (
        tmp_path_factory.mktemp(name) / folder
        for name, folder in (("v1", "small"), ("v2", "small"), ("m", "agreement"))
    )
    for folder in (first, second, metric):
        folder.mkdir()
    small_folder.write(first, small_folder.configs())
    small_folder.write(second, {"clean": small_folder.configs()["clean"] | {"test": small_folder.dataset(8, 12)}})
    for name, text in {"agreement.py": AGREEMENT, "score.py": SCORE, "README.md": SPACE_CARD}.items():
        (metric / name).write_text(text)
    (metric / "__pycache__").mkdir()
    (metric / "__pycache__" / "score.pyc").touch()
    return SimpleNamespace(first=first, second=second, metric=metric)


@pytest.fixture(scope="module")
def published(hub, client, folders):
    hub.page_size = 3  # so that listings take several pages
    metrics = [str(folders.metric), *map(str, METRICS)]
    return client("publish", first=str(folders.first), second=str(folders.second), metrics=metrics)


@pytest.fixture(scope="module")
def loaded(hub, client, published):  # noqa: ARG001 - there is something to load only then
    commit = hub.repos["datasets", "org/built"].tags["v1"]
    return client("read", commit=commit, metrics=["agreement", *(metric.name for metric in METRICS)])


@pytest.mark.slow
def test_what_the_clients_published_is_on_the_hub(hub, folders, published):
    assert published["whoami"] == fake_hub.USER
    assert published["pushed"] == [
        ".gitattributes",
        "README.md",
        "clean/test-00000-of-00001.parquet",
        "clean/train-00000-of-00001.parquet",
        "keyboard.1/test-00000-of-00001.parquet",
    ]
    for version, ref in ((folders.first, "v1"), (folders.second, "main")):
        local = {
            path.relative_to(version).as_posix(): path.read_bytes() for path in version.rglob("*.*") if path.is_file()
        }
        remote = hub.files("datasets", "org/built", ref)
        assert {name: data for name, data in remote.items() if name not in {".gitattributes", MANIFEST}} == local
    assert sorted(hub.files("spaces", "org/agreement")) == [
        ".gitattributes", MANIFEST, "README.md", "agreement.py", "score.py",
    ]  # fmt: skip
    assert hub.repos["spaces", "org/agreement"].sdk == "gradio"


@pytest.mark.slow
def test_uploads_say_what_they_did(hub, published):
    first = hub.repos["datasets", "org/built"].tags["v1"]
    assert published["built"][0] == f"{hub.url}/datasets/org/built/commit/{first}: 4 files sent, 0 removed"
    assert published["repeated"] == [f"{hub.url}/datasets/org/built/commit/{first}: nothing to change", []]
    _, sent, removed = published["changed"]
    assert sent == ["README.md", "clean/test-00000-of-00001.parquet"]  # the training rows are the same
    assert removed == ["keyboard.1/test-00000-of-00001.parquet"]
    assert len(hub.repos["datasets", "org/built"].commits) == 3  # the Hub's own, and one for each change


@pytest.mark.slow
def test_what_users_load_is_what_was_published(loaded):
    assert loaded["configs"] == ["clean", "keyboard.1"]
    assert loaded["pushed"] == small_folder.rows(9, 12, question="怎么换花呗？")[0]
    assert loaded["default"] == 12
    assert loaded["announced"] == {"train": 12, "test": 9}
    assert loaded["names"] == ["different", "same"]
    assert loaded["streamed"] == [row["id"] for row in small_folder.rows(9, 12)]


@pytest.mark.slow
def test_revisions_stay_what_they_were(loaded):
    assert (loaded["tagged"], loaded["at commit"], loaded["now"]) == (9, 9, 8)


@pytest.mark.slow
def test_a_metric_loads_from_the_hub_with_its_helper_file(loaded):
    assert loaded["metric"] == {"agreement": pytest.approx(2 / 3)}


@pytest.mark.slow
def test_every_metric_of_the_project_loads_from_the_hub(loaded):
    assert loaded["loaded"] == ["agreement", *(metric.name for metric in METRICS)]


def test_the_watch_over_connections_notices(client):
    with pytest.raises(AssertionError, match="left the loopback"):
        client("stray")


@pytest.mark.slow
def test_build_and_push_from_the_command_line(hub, client, tmp_path):
    stranger = client("command", "build", "sample", "--out", str(tmp_path / "sample"), "--push", "org", token=STRANGER)
    assert stranger["exit"] == 1
    assert stranger["error"].splitlines()[-1] == (
        "Error: sample was not uploaded to org/sample: the Hub does not accept the token; no file was sent; "
        f"make one that may write at {hub.url}/settings/tokens, set HF_TOKEN to it, and repeat the upload"
    )
    hub.faults = [Fault("POST", "/sample/commit/", status=500)]
    failed = client("command", "build", "sample", "--out", str(tmp_path / "sample"), "--push", "org")
    assert failed["exit"] == 1
    assert failed["error"].splitlines()[-1] == (
        "Error: sample was not uploaded to org/sample: the Hub answered 500 (a fault that the test arranged); "
        "main shows no files, as before the upload; repeat the upload, it continues where it stopped"
    )
    assert "Traceback" not in failed["error"]
    done = client("command", "build", "sample", "--out", str(tmp_path / "sample"), "--push", "org")
    assert done["exit"] == 0, done
    shown = hub.files("datasets", "org/sample")
    assert f"uploaded to {hub.url}/datasets/org/sample/commit/" in done["output"]
    assert f"{len(shown) - 2} files sent, 0 removed" in done["output"]
    card = (tmp_path / "sample" / "README.md").read_bytes()
    assert shown["README.md"].decode() == fill_card(card.decode(), "org") != card.decode()  # the card names the repo
    assert b"[lapsus](https://" in shown["README.md"] and b"<org>" not in shown["README.md"]


@pytest.fixture
def here(monkeypatch):
    """Point this process at a new Hub, and take the waiting out of its retries."""
    with fake_hub.serve() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
        monkeypatch.setenv("HF_TOKEN", fake_hub.WRITE_TOKEN)
        monkeypatch.setattr("huggingface_hub.utils._http.time", SimpleNamespace(sleep=lambda _: None))
        yield hub


REPEAT = "repeat the upload, it continues where it stopped"
UNTOUCHED = "main shows no files, as before the upload"
FAULTS = {
    "500 while creating": (
        [Fault("POST", "/api/repos/create", status=500)],
        f"the Hub answered 500 (a fault that the test arranged); no file was sent; {REPEAT}",
    ),
    "500 while asking": (
        [Fault("GET", "/api/datasets/org/small", status=500)],
        f"the Hub answered 500 (a fault that the test arranged); {UNTOUCHED}; {REPEAT}",
    ),
    "503 for ever while sending": (
        [Fault("PUT", "/_lfs/", times=99, status=503)],
        f"the Hub answered 503 (a fault that the test arranged); {UNTOUCHED}; {REPEAT}",
    ),
    "dropped for ever while sending": (
        [Fault("PUT", "/_lfs/", times=99, drop="before")],
        f"the connection to the Hub broke off; {UNTOUCHED}; {REPEAT}",
    ),
    "500 at the commit": (
        [Fault("POST", "/commit/", status=500)],
        f"the Hub answered 500 (a fault that the test arranged); {UNTOUCHED}; {REPEAT}",
    ),
    "too much for the Hub": (
        [Fault("POST", "/commit/", status=413)],
        f"the Hub answered 413 (a fault that the test arranged); {UNTOUCHED}; {REPEAT}",
    ),
    "dropped at the commit": (
        [Fault("POST", "/commit/", drop="before")],
        f"the connection to the Hub broke off; {UNTOUCHED}; {REPEAT}",
    ),
    "silent at the commit": (
        [Fault("POST", "/commit/", delay=1.0, drop="before")],
        f"the Hub was silent for 0.5 s; {UNTOUCHED}; {REPEAT}",
    ),
    "gone since the commit": (
        [Fault("POST", "/commit/", drop="before"), Fault("GET", "/org/small$", skip=1, status=502)],
        f"the connection to the Hub broke off; main shows either the old files or the new ones; {REPEAT}",
    ),
    "no right to this repo": (
        [Fault("POST", "/preupload/", status=403)],
        f"the token may not write to 'org'; {UNTOUCHED}; take one that may, from ",
    ),
}


@pytest.mark.parametrize(("faults", "sentence"), FAULTS.values(), ids=FAULTS)
def test_a_failed_upload_says_what_reached_the_hub_and_can_be_repeated(here, folders, faults, sentence):
    here.faults = [replace(fault) for fault in faults]
    with pytest.raises(UploadError) as caught:
        upload(folders.first, "org/small", timeout=0.5)
    assert f"small was not uploaded to org/small: {sentence}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is not None
    here.faults = []
    assert len(upload(folders.first, "org/small").uploaded) == 4
    assert str(upload(folders.first, "org/small")).endswith(": nothing to change")


def test_a_failure_once_is_overcome_without_a_word(here, folders):
    here.faults = [Fault("PUT", "/_lfs/", status=503), Fault("PUT", "/_lfs/", drop="before")]
    assert len(upload(folders.first, "org/small").uploaded) == 4


def test_objects_that_arrived_are_not_sent_again(here, folders):
    here.faults = [Fault("POST", "/commit/", status=500)]
    with pytest.raises(UploadError):
        upload(folders.first, "org/small")
    arrived = len(here.requests("PUT"))
    assert arrived == len(here.objects)
    upload(folders.first, "org/small")
    assert len(here.requests("PUT")) == arrived


def test_an_update_that_fails_leaves_the_old_version_visible(here, folders):
    upload(folders.first, "org/small")
    before = here.files("datasets", "org/small")
    here.faults = [Fault("POST", "/commit/", status=500)]
    with pytest.raises(UploadError, match=r"main shows 4 files \(README.md, clean/test-.*, …\), as before the upload"):
        upload(folders.second, "org/small")
    assert here.files("datasets", "org/small") == before


def test_a_lost_answer_to_a_commit_that_arrived_is_a_success(here, folders):
    here.faults = [Fault("POST", "/commit/", drop="after")]
    done = upload(folders.first, "org/small")
    assert done.url.endswith(here.repos["datasets", "org/small"].refs["main"])
    assert len(done.uploaded) == 4


def test_a_commit_in_between_is_not_overwritten(here, folders, monkeypatch):
    def slip_in(self, *arguments, **options):
        here.repos["datasets", "org/small"].commit("main", {"NOTES.md": b"mine"}, (), "by somebody else")
        return commit(self, *arguments, **options)

    commit = HfApi.create_commit
    monkeypatch.setattr(HfApi, "create_commit", slip_in)
    with pytest.raises(UploadError, match="somebody else changed org/small meanwhile") as caught:
        upload(folders.first, "org/small")
    assert "main shows 1 file (NOTES.md) of somebody else's commit" in str(caught.value)
    assert "NOTES.md" in here.files("datasets", "org/small")


@pytest.mark.parametrize(
    ("repo", "token", "sentence"),
    [
        ("org/small", STRANGER, "the Hub does not accept the token; no file was sent; make one that may write"),
        ("org/small", fake_hub.READ_TOKEN, "the token may not write to 'org'; no file was sent; take one that may"),
        ("others/small", fake_hub.WRITE_TOKEN, "the token may not write to 'others'; no file was sent; take one"),
        (
            "org/small/extra",
            fake_hub.WRITE_TOKEN,
            "'org/small/extra' is no name of a repo; no file was sent; name it",
        ),
    ],
    ids=["bad token", "token that only reads", "other organisation", "no name"],
)
def test_what_a_user_got_wrong_is_one_sentence(here, folders, repo, token, sentence):
    with pytest.raises(UploadError) as caught:
        upload(folders.first, repo, token=token)
    assert f"small was not uploaded to {repo}: {sentence}" in str(caught.value)
    assert not here.repos


def test_a_version_is_a_tag_and_stays_what_it_is(here, folders):
    first = upload(folders.first, "org/small", version="1.0.0")
    repo = here.repos["datasets", "org/small"]
    assert str(first).endswith(": 4 files sent, 0 removed, tagged v1.0.0")
    assert repo.tags == {"v1.0.0": repo.refs["main"]}
    assert str(upload(folders.first, "org/small", version="1.0.0")).endswith(": nothing to change")
    before = here.files("datasets", "org/small")
    with pytest.raises(UploadError) as caught:
        upload(folders.second, "org/small", version="1.0.0")
    assert "v1.0.0 is there with other data (clean/test-00000-of-00001.parquet, keyboard.1/test-" in str(caught.value)
    assert "--replace-version" in str(caught.value)
    assert here.files("datasets", "org/small") == before
    second = upload(folders.second, "org/small", version="1.1.0")
    assert str(second).endswith(": 2 files sent, 1 removed (keyboard.1/test-00000-of-00001.parquet), tagged v1.1.0")
    assert here.files("datasets", "org/small", "v1.0.0") == before
    assert repo.tags["v1.1.0"] == repo.refs["main"]


def test_a_version_moves_when_that_is_asked_for(here, folders):
    upload(folders.first, "org/small", version="1.0.0")
    moved = upload(folders.second, "org/small", version="1.0.0", replace_version=True)
    repo = here.repos["datasets", "org/small"]
    assert str(moved).endswith(", tag v1.0.0 moved") and repo.tags == {"v1.0.0": repo.refs["main"]}


def test_a_mended_card_leaves_the_version_where_it_is(here, folders, tmp_path):
    first = upload(folders.first, "org/small", version="1.0.0")
    mended = shutil.copytree(folders.first, tmp_path / "small")
    with (mended / "README.md").open("a") as card:
        card.write("A word more.\n")
    assert str(upload(mended, "org/small", version="1.0.0")).endswith(": 1 file sent, 0 removed")
    assert first.url.endswith(here.repos["datasets", "org/small"].tags["v1.0.0"])


@pytest.mark.parametrize("name", ["README.md", CLEAN_FILE])  # a blob of git, and a large file
def test_files_of_the_same_size_are_compared_by_their_bytes(here, folders, tmp_path, name):
    upload(folders.first, "org/small", version="1.0.0")
    changed = shutil.copytree(folders.first, tmp_path / "small")
    content = (changed / name).read_bytes()
    middle = len(content) - 5 if name == "README.md" else len(content) // 2  # prose of the card, a page of Parquet
    (changed / name).write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    if name == CLEAN_FILE:
        with pytest.raises(UploadError, match=f"v1.0.0 is there with other data \\({CLEAN_FILE}\\)"):
            upload(changed, "org/small", version="1.0.0")
    assert upload(changed, "org/small").uploaded == (name,)
    assert here.files("datasets", "org/small")[name] == (changed / name).read_bytes()


@pytest.mark.parametrize("drop", ["before", "after"])
def test_a_tag_that_fails_is_made_by_the_next_upload(here, folders, drop):
    here.faults = [Fault("POST", "/tag/", drop=drop)]
    with pytest.raises(UploadError, match=r"was uploaded to org/small, but not tagged v1.0.0: the connection"):
        upload(folders.first, "org/small", version="1.0.0")
    upload(folders.first, "org/small", version="1.0.0")
    repo = here.repos["datasets", "org/small"]
    assert repo.tags == {"v1.0.0": repo.refs["main"]}


def test_a_commit_whose_answer_is_lost_is_tagged(here, folders):
    here.faults = [Fault("POST", "/commit/", drop="after")]
    upload(folders.first, "org/small", version="1.0.0")
    repo = here.repos["datasets", "org/small"]
    assert repo.tags == {"v1.0.0": repo.refs["main"]}


def test_a_gated_repo_is_gated_before_any_file_is_there(here, folders):
    done = upload(folders.first, "org/small", gated="manual")
    assert str(done).endswith(": 4 files sent, 0 removed, gated (manual)")
    assert here.repos["datasets", "org/small"].gated == "manual"
    order = [seen.path for seen in here.log if seen.method in {"PUT", "POST"}]
    assert order.index("/api/datasets/org/small/settings") < next(
        i for i, path in enumerate(order) if "/commit/" in path
    )
    assert str(upload(folders.first, "org/small", gated="manual")).endswith(": nothing to change")
    assert not here.repos["datasets", "org/small"].private
    url = f"{here.url}/datasets/org/small/resolve/main/{CLEAN_FILE}"
    with pytest.raises(GatedRepoError):
        hf_raise_for_status(get_session().get(url, headers=build_hf_headers(token=fake_hub.READ_TOKEN)))
    hf_raise_for_status(get_session().get(url, headers=build_hf_headers(token=fake_hub.WRITE_TOKEN)))


def test_a_collection_holds_every_repo_of_lapsus(here, folders, tmp_path):
    with pytest.raises(UploadError, match="org has no repo whose card has the tag lapsus"):
        update_collection("org")
    tagged = shutil.copytree(folders.first, tmp_path / "small")
    card = tagged / "README.md"
    card.write_text(card.read_text().replace("---\n", "---\ntags: [lapsus]\n", 1))
    upload(tagged, "org/small")
    upload(folders.first, "org/others")  # not of lapsus
    upload_space(METRICS[0], f"org/{METRICS[0].name}")
    first = update_collection("org")
    assert first.added == ("org/small", f"org/{METRICS[0].name}") and not first.existing
    upload(tagged, "org/again")
    n_requests = len(here.requests("POST"))
    second = update_collection("org")
    assert len(here.requests("POST")) == n_requests + 2, "the collection, and the one repo that is new"
    assert (second.url, second.added, second.existing) == (first.url, ("org/again",), first.added)
    (collection,) = here.collections.values()
    assert [(item["type"], item["id"]) for item in collection["items"]] == [
        ("dataset", "org/small"),
        ("space", f"org/{METRICS[0].name}"),
        ("dataset", "org/again"),
    ]
    here.create("datasets", "others/x").commit("main", {"README.md": card.read_bytes()}, (), "card")
    with pytest.raises(
        UploadError, match="the repos of others were not collected: the token may not write to 'others'"
    ):
        update_collection("others")


def test_push_takes_a_metric_too(here):
    done = CliRunner().invoke(main, ["push", str(METRICS[0]), "org"])
    assert done.exit_code == 0, done.output
    assert here.repos["spaces", f"org/{METRICS[0].name}"].sdk == "gradio"
    files = here.files("spaces", f"org/{METRICS[0].name}")
    assert files["requirements.txt"].startswith(b"lapsus==")
    repo, name = here.repos["spaces", f"org/{METRICS[0].name}"], METRICS[0].name
    assert repo.tags == {f"lapsus-{lapsus.__version__}": repo.refs["main"]}
    card = files["README.md"].decode()
    assert 'python_version: "3.11"' in card and f'evaluate.load("org/{name}")' in card
    assert f'evaluate.load("org/{name}", revision="lapsus-{lapsus.__version__}")' in card
    assert files["app.py"].decode() == render_app(METRICS[0].name) and not (METRICS[0] / "app.py").exists()
    assert upload_space(METRICS[0], f"org/{METRICS[0].name}").uploaded == ()


def test_a_space_installs_the_wheel_that_is_sent_along(here, tmp_path):
    wheel = tmp_path / "lapsus-9.9.9-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    name = METRICS[0].name
    upload_space(METRICS[0], f"org/{name}", package=wheel)
    files = here.files("spaces", f"org/{name}")
    address = f"lapsus @ {here.url}/spaces/org/{name}/resolve/main/{wheel.name}"
    assert files["requirements.txt"].decode().splitlines()[0] == address and files[wheel.name] == b"wheel"
    assert upload_space(METRICS[0], f"org/{name}").removed == (wheel.name,)  # after the release it comes from PyPI


def test_no_token_at_all(here, folders, monkeypatch, tmp_path):
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
    with pytest.raises(UploadError, match=f"no token was given; no file was sent; make one .* at {here.url}"):
        upload(folders.first, "org/small")


@pytest.mark.usefixtures("here")
def test_offline(folders, monkeypatch):
    monkeypatch.setattr(constants, "is_offline_mode", lambda: True)
    with pytest.raises(UploadError, match="HF_HUB_OFFLINE forbids every connection; no file was sent; unset it"):
        upload(folders.first, "org/small")


@pytest.mark.usefixtures("here")
def test_nobody_at_the_address(folders, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}"
    monkeypatch.setattr(constants, "ENDPOINT", nowhere)
    with pytest.raises(UploadError, match=f"{nowhere} cannot be reached; no file was sent; check the network"):
        upload(folders.first, "org/small")


@pytest.mark.parametrize(("send", "missing"), [(upload, "README.md"), (upload_space, "other.py")])
def test_a_folder_that_was_not_built(here, folders, tmp_path, send, missing):
    folder = tmp_path if send is upload else folders.metric
    with pytest.raises(UploadError, match=f"has no {missing}; build"):
        send(folder, "org/other")
    assert not here.log


@pytest.mark.usefixtures("here")
def test_a_private_repo_is_seen_by_its_owner_alone(folders):
    upload(folders.first, "org/small", private=True)
    assert HfApi(token=fake_hub.READ_TOKEN).repo_info("org/small", repo_type="dataset").private
    with pytest.raises(HfHubHTTPError, match="401"):
        HfApi(token=False).repo_info("org/small", repo_type="dataset")


def test_the_cause_of_an_error_is_found_behind_a_later_one():
    error = RuntimeError("a worker failed")
    error.__context__ = TimeoutException()
    assert diagnose_error(error, HfApi(), "org/small", 3) == ("the Hub was silent for 3 s", RETRY_HINT)


@pytest.mark.usefixtures("here")
def test_patience_ends_with_the_upload(folders):
    usual = get_session().timeout
    upload(folders.first, "org/small", timeout=7)
    assert get_session().timeout == usual


def test_the_double_refuses_what_the_hub_refuses(here):
    api = HfApi()
    api.create_repo("org/strict", repo_type="dataset")
    start = here.repos["datasets", "org/strict"].refs["main"]
    note = partial(api.create_commit, "org/strict", commit_message="note", repo_type="dataset")
    note([CommitOperationAdd("a.txt", b"a")], parent_commit=start)
    with pytest.raises(HfHubHTTPError, match="412"):
        note([CommitOperationAdd("b.txt", b"b")], parent_commit=start)
    with pytest.raises(HfHubHTTPError, match="409"):
        api.create_repo("org/strict", repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="404"):
        api.list_repo_files("org/strict", repo_type="dataset", revision="nowhere")
    assert HfApi(token=False).list_repo_files("org/strict", repo_type="dataset") == [".gitattributes", "a.txt"]


def test_hidden_files_stay_at_home(tmp_path):
    small_folder.write(tmp_path / "out", small_folder.configs())
    for secret in (".env", ".git/config", "clean/.token", ".cache/huggingface/token", "__pycache__/a.pyc"):
        path = tmp_path / "out" / secret
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    sent = _list_local_files(tmp_path / "out")
    assert sorted(sent) == [
        "README.md",
        "clean/test-00000-of-00001.parquet",
        "clean/train-00000-of-00001.parquet",
        "keyboard.1/test-00000-of-00001.parquet",
    ]


def test_private_makes_a_public_repo_private(here, folders):
    assert upload(folders.first, "org/open").settings == ()
    done = upload(folders.first, "org/open", private=True)
    assert str(done).endswith(": made private") and here.repos["datasets", "org/open"].private
    assert str(upload(folders.first, "org/open", private=True)).endswith(": nothing to change")
    upload(folders.first, "org/open")
    assert here.repos["datasets", "org/open"].private  # nothing makes it public again


def test_what_others_put_into_the_repo_stays_and_is_named(here, folders):
    upload(folders.first, "org/shared")
    added = {name: name.encode() for name in ("LICENSE", "eval.yaml", "figures/drop.png", "clean/notes.parquet")}
    HfApi().create_commit(
        "org/shared",
        [CommitOperationAdd(name, data) for name, data in added.items()],
        commit_message="mine",
        repo_type="dataset",
    )
    done = upload(folders.second, "org/shared")
    assert done.removed == ("keyboard.1/test-00000-of-00001.parquet",)
    assert str(done).endswith(
        "2 files sent, 1 removed (keyboard.1/test-00000-of-00001.parquet); not of this build and left there: "
        "LICENSE, clean/notes.parquet, eval.yaml, figures/drop.png"
    )
    assert added.items() <= here.files("datasets", "org/shared").items()
