"""The page for judging, in a browser and by hand: it saves as one goes, goes on where it was, and lets nobody else in."""

from __future__ import annotations

import contextlib
import errno
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import browsers
import pytest

from lapsus.collect.judging_page import MAX_CONNECTIONS, Sheet, format_address, make_server, render_page
from lapsus.collect.sheets import read_judgements

HOSTILE = "</script><script>document.title = 'got in'</script><img src=x onerror=alert(1)> {{ 7 * 7 }}"
ITEMS = [
    {"item": "p1", "text": "Ada won the cup in 1990.", "paraphrase": "In 1990 the cup went to Ada."},
    {"item": "p2", "text": "花呗怎么还款", "paraphrase": "如何归还花呗"},
    {"item": "p3", "text": HOSTILE, "paraphrase": HOSTILE},
]


@contextmanager
def judging(out, judge="ida", items=ITEMS, max_seconds=None):
    with make_server(Sheet.open(items, judge, out)) as running:
        running.max_seconds = max_seconds or running.max_seconds
        thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield format_address(running)
        finally:
            running.shutdown()


@pytest.fixture(scope="module")
def browser():
    yield from browsers.running()


def judge(browser, points, grammatical):
    """Judge the pair that is shown, by the mouse's events, and wait until it is saved."""
    browser.run(f"""
    const slider = document.getElementById("similarity");
    slider.value = {points};
    slider.dispatchEvent(new Event("input")); slider.dispatchEvent(new Event("change"));
    document.querySelector("[name=grammatical][value={grammatical}]").click();""")
    wait(browser, "document.getElementById('state').textContent === 'saved'")


def wait(browser, condition):
    for _ in range(200):
        if browser.run(f"return {condition}"):
            return
        time.sleep(0.02)
    raise AssertionError(f"{condition}: {browser.run('return document.body.innerText')}")


def shown(browser):
    return browser.run("""return {text: document.getElementById("text").textContent,
      paraphrase: document.getElementById("paraphrase").textContent,
      points: document.getElementById("points").textContent,
      judged: document.getElementById("count").textContent,
      checked: document.querySelector("[name=grammatical]:checked")?.value ?? null,
      next: !document.getElementById("next").disabled, done: !document.getElementById("done").hidden,
      state: document.getElementById("state").textContent}""")


def click(browser, name):
    browser.run(f"document.getElementById('{name}').click()")


def test_a_sheet_is_judged_saved_and_gone_on_with(browser, tmp_path):
    out = tmp_path / "ida.jsonl"
    with judging(out) as url:
        browser.open(url, 1280)
        first = shown(browser)
        assert (first["points"], first["checked"], first["next"], first["judged"]) == (
            "–",
            None,
            False,
            "0 of 3 judged",
        )
        judge(browser, 83, "yes")
        assert len(read_judgements(out)) == 1  # saved before anything else is pressed
        assert shown(browser)["next"]
        click(browser, "next")
        wait(browser, "document.getElementById('place').textContent === '2 of 3'")
        assert shown(browser)["checked"] is None
        judge(browser, 12, "no")
        browser.call("/refresh", {})  # as if the browser had been closed
        wait(browser, "document.getElementById('place').textContent === '3 of 3'")
        assert shown(browser)["judged"] == "2 of 3 judged"
        judge(browser, 100, "yes")
        click(browser, "next")
        wait(browser, "!document.getElementById('done').hidden")
        click(browser, "again")
        click(browser, "back")
        assert (shown(browser)["points"], shown(browser)["checked"]) == ("12", "no")
        judge(browser, 20, "no")  # another word
    found = {each.item: each for each in read_judgements(out)}
    assert {each["item"] for each in ITEMS} == set(found)
    assert sorted((each.similarity, each.grammatical) for each in found.values()) == [
        (20, False),
        (83, True),
        (100, True),
    ]
    assert found[next(each["item"] for each in ITEMS if each["text"] == first["text"])].similarity == 83
    with judging(out) as url:  # the program was started again
        browser.open(url, 390)
        assert shown(browser)["done"] and shown(browser)["judged"] == "3 of 3 judged"


def test_keys_do_what_the_page_says(browser, tmp_path):
    out = tmp_path / "ida.jsonl"
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: '{}', bubbles: true, cancelable: true}}))"
    with judging(out) as url:
        browser.open(url, 1280)
        for key in ("7", "n", "Enter"):
            browser.run(press.format(key))
        wait(browser, "document.getElementById('place').textContent === '2 of 3'")
        for key in ("y", "Enter", "End"):  # Enter goes nowhere while a judgement is half made
            browser.run(press.format(key))
        wait(browser, "document.getElementById('state').textContent === 'saved'")
        assert shown(browser)["judged"] == "2 of 3 judged"
    assert sorted((each.similarity, each.grammatical) for each in read_judgements(out)) == [(70, False), (100, True)]


@contextmanager
def command(tmp_path, port=0):
    """The command itself; it ends by Ctrl-C."""
    (tmp_path / "sheet.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ITEMS), encoding="utf-8")
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a background job ignores it
    program += "; from lapsus.cli.main import main; main()"
    words = ["collect", "paraphrases", "judge", "sheet.jsonl", "--judge", "ida", "--no-open", "--port", str(port)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([sys.executable, "-u", "-c", program, *words], cwd=tmp_path, **pipes) as running:
        said = []
        try:
            said.append(running.stdout.readline())
            yield said
        finally:
            running.send_signal(signal.SIGINT)
            try:
                said += running.communicate(timeout=60)[0].splitlines()
            finally:
                running.kill()  # else leaving the block would wait for it


def test_what_cannot_be_saved_is_said_and_kept_on_the_page(browser, tmp_path):
    with command(tmp_path) as said:
        url = said[0].split()[2]
        assert said[0] == f"judge at {url} (3 of 3 to do); Ctrl-C ends\n"
        browser.open(url, 1280)
    assert said[-1] == "ida.jsonl has 0 judgements; 3 are left"
    browser.run("""document.getElementById("similarity").value = 40;
    document.getElementById("similarity").dispatchEvent(new Event("change"));
    document.querySelector("[name=grammatical][value=yes]").click();""")
    wait(browser, "document.getElementById('state').textContent.startsWith('not saved')")
    assert "start it again, then press Next" in shown(browser)["state"]
    with command(tmp_path, port=url.rsplit(":", 1)[1].strip("/")):
        click(browser, "next")
        wait(browser, "document.getElementById('place').textContent === '2 of 3'")
    assert [each.similarity for each in read_judgements(tmp_path / "ida.jsonl")] == [40]


def test_the_page_shows_any_text_as_it_is_and_asks_nobody(browser, tmp_path):
    browser.log("performance"), browser.log("browser")
    with judging(tmp_path / "ida.jsonl") as url:
        for width in (390, 1280):
            browser.open(url, width)
            seen = set()
            for _ in ITEMS:
                seen.add(shown(browser)["text"])
                wide = browser.run("return [document.documentElement.scrollWidth, innerWidth, document.title]")
                assert wide[0] <= wide[1] == width and wide[2] == "Judging, ida"
                if width == 1280:
                    judge(browser, 1, "no")
                    click(browser, "next")
                    time.sleep(0.1)
        assert seen == {each["text"] for each in ITEMS}
        messages = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert [each for each in asked if not each.startswith((url, "data:"))] == []
    assert browser.log("browser") == []  # nothing that the policy had to block


def ask(url, method="POST", path="/judgements", body=b"", **headers):
    host = url.removeprefix("http://").strip("/")
    told = http.client.HTTPConnection(host, timeout=10)
    named = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    told.request(method, path, body if isinstance(body, bytes) else json.dumps(body).encode(), named)
    answer = told.getresponse()
    return answer.status, answer.read().decode()


GOOD = {"item": "p1", "similarity": 50, "grammatical": "yes"}


def test_only_the_page_itself_may_save(tmp_path):
    out = tmp_path / "ida.jsonl"
    with judging(out) as url:
        assert ask(url, body=GOOD, Host="evil.example:80")[0] == 403
        assert ask(url, "GET", "/", Host="evil.example")[0] == 403
        assert ask(url, body=GOOD, Content_Type="text/plain")[0] == 403  # what another site's page could send
        assert ask(url, body={**GOOD, "similarity": 101}) == (
            400,
            "the judgement has the similarity 101; write a number from 0 (another meaning) to 100 (the same)",
        )
        assert ask(url, body={**GOOD, "item": "other"})[0] == 400
        assert ask(url, body=b"{")[0] == ask(url, body=[1])[0] == ask(url, body=b"x" * 70_000)[0] == 400
        assert [ask(url, body=GOOD, Content_Length=length)[0] for length in ("many", "-1", "²", "9" * 30)] == [400] * 4
        assert ask(url, "GET", "/sheet.csv")[0] == 404
        assert not out.exists()
        assert ask(url, body={**GOOD, "judge": "somebody else"}) == (200, '{"remaining": 2}')
    assert [each.judge for each in read_judgements(out)] == ["ida"]


def test_another_judges_file_is_not_written_to(tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text('{"item": "p1", "judge": "ben", "similarity": 1, "grammatical": false}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"has the judgements of 'ben'; give each judge a file, with --out"):
        Sheet.open(ITEMS, "ida", out)


def test_judges_have_orders_of_their_own_that_stay(tmp_path):
    orders = {
        judge: [row["item"] for row in Sheet.open(ITEMS, judge, tmp_path / "x").items] for judge in ("ida", "ben", "lu", "eve")
    }  # fmt: skip
    assert len(set(map(tuple, orders.values()))) > 1
    assert all(sorted(order) == ["p1", "p2", "p3"] for order in orders.values())
    assert [row["item"] for row in Sheet.open(ITEMS[::-1], "ida", tmp_path / "x").items] == orders["ida"]


def test_the_page_holds_no_text_as_code(tmp_path):
    html, policy = render_page(Sheet.open(ITEMS, "<b>", tmp_path / "x"))
    assert html.count("<script") == 2 and "<img" not in html and "Judging, &lt;b&gt;" in html
    assert "default-src 'none'" in policy and "unsafe" not in policy


ODD_BODIES = [
    {**GOOD, "item": ["p1"]},
    {**GOOD, "item": {"p1": 1}},
    {**GOOD, "grammatical": ["yes"]},
    {**GOOD, "grammatical": None},
    {**GOOD, "similarity": [50]},
    {**GOOD, "similarity": 10**400},
    {**GOOD, "similarity": "NaN"},
    b'{"item":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    b"[" * 60_000,
    b'{"item": "' + b"\xff" + b'"}',
    b"1" * 5_000,
    b'"p1"',
    b"null",
]


@pytest.mark.parametrize("body", ODD_BODIES, ids=range(len(ODD_BODIES)))
def test_an_odd_body_is_refused_and_prints_nothing(tmp_path, capfd, body):
    out = tmp_path / "ida.jsonl"
    with judging(out) as url:
        assert ask(url, body=body)[0] == 400
        assert not out.exists()
        assert ask(url, body=GOOD)[0] == 200
    assert "Traceback" not in "".join(capfd.readouterr())


def connect(url):
    host, port = url.removeprefix("http://").strip("/").split(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    return connection, f"POST /judgements HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"


def test_a_connection_that_stalls_or_drips_is_closed(tmp_path, capfd):
    with judging(tmp_path / "ida.jsonl", max_seconds=0.5) as url:
        connections = [connect(url) for _ in range(3)]
        (in_body, head), (in_header, _), (drips, _) = connections
        in_body.sendall(f'{head}Content-Length: 50\r\n\r\n{{"item"'.encode())
        in_header.sendall(head.encode())
        start = time.monotonic()
        with contextlib.suppress(OSError):
            while time.monotonic() < start + 10:  # a byte resets no clock
                drips.sendall(b"P")
                time.sleep(0.05)
        assert time.monotonic() < start + 5
        for connection, _ in connections:
            with contextlib.suppress(ConnectionError):
                assert connection.recv(100) == b""
            connection.close()
        assert ask(url, body=GOOD)[0] == 200
    assert "Traceback" not in "".join(capfd.readouterr())


def test_there_are_never_more_threads_than_the_bound(tmp_path):
    with judging(tmp_path / "ida.jsonl") as url:
        before = threading.active_count()
        connections = [connect(url)[0] for _ in range(MAX_CONNECTIONS + 8)]
        ends = 0
        for connection in connections[MAX_CONNECTIONS:]:
            with contextlib.suppress(ConnectionError):
                assert connection.recv(100) == b""
            ends += 1
        assert ends == 8
        assert threading.active_count() - before == MAX_CONNECTIONS
        for connection in connections:
            connection.close()
        deadline = time.monotonic() + 10
        while threading.active_count() > before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert ask(url, body=GOOD)[0] == 200


class FullDisk:
    """A file on a disk that has room for a few more bytes."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, content):
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self.file.write(content[: self.room])
        self.room -= written
        return written


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    out = tmp_path / "ida.jsonl"
    with judging(out) as url:
        assert ask(url, body=GOOD)[0] == 200
        content, open_file = out.read_bytes(), Path.open
        monkeypatch.setattr(Path, "open", lambda path, *mode, **more: FullDisk(open_file(path, *mode, **more), 10))
        assert ask(url, body={**GOOD, "item": "p2"}) == (500, f"{out}: No space left on device")
        monkeypatch.undo()
        assert out.read_bytes() == content
        assert ask(url, body={**GOOD, "item": "p2"}) == (200, '{"remaining": 1}')


@pytest.mark.parametrize("size", [1, 5, 9, 30, -2, -1])
def test_a_line_that_was_cut_is_judged_again(tmp_path, size):
    out = tmp_path / "ida.jsonl"
    work = Sheet.open(ITEMS, "ida", out)
    work.save(GOOD)
    first_line = out.read_bytes()
    work.save({**GOOD, "item": "p2"})
    second_line = out.read_bytes().removeprefix(first_line)
    out.write_bytes(first_line + second_line[:size])
    is_whole = size == -1
    assert Sheet.open(ITEMS, "ida", out).remaining == (1 if is_whole else 2)
    assert out.read_bytes() == first_line + (second_line if is_whole else b"")


@pytest.mark.parametrize("content", ['[\n {"item": "p1", "judge": "ida", "similarity": 1, "grammatical": 1}\n]', "a,b"])
def test_the_end_of_any_other_file_stays(tmp_path, content):
    out = tmp_path / "ida.json"
    out.write_text(content)
    with contextlib.suppress(ValueError):
        Sheet.open(ITEMS, "ida", out)
    assert out.read_text() == content
