"""The page: one file that asks for nothing else, escapes everything, sorts, and fits a phone."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from html.parser import HTMLParser
from random import Random

import browsers
import pytest
from browsers import AXE

from lapsus.core.types import Track
from lapsus.reporting.report import report

LETTERS = "我的花呗为什么不能还款了怎样提前借呗额度没有信用卡绑定手机号码在哪里查询账单日期可以修改吗"
MODELS = {"bert-base": (0.90, 1.6), "roberta-large": (0.94, 1.1), "char-cnn": (0.83, 0.7)}  # clean accuracy, fragility
FAMILIES = {"keyboard": (0.08, 0.16, 0.12), "speech": (0.22, 0.30, 0.18)}  # share of letters each annotator changes


def simulated(models=MODELS, families=FAMILIES, examples=300, dataset="simulated paraphrases"):
    """Predictions of models that miss more the more of a text is changed; the texts are changed letter by letter."""
    draw = Random("report")
    clean = {
        f"t-{number:04}": "".join(draw.choice(LETTERS) for _ in range(draw.randint(8, 24)))
        for number in range(examples)
    }
    gold = {key: draw.choice(["paraphrase", "different"]) for key in clean}
    noisy = {
        f"{family}.{number}": {
            key: "".join(draw.choice(LETTERS) if draw.random() < rate else letter for letter in text)
            for key, text in clean.items()
        }
        for family, rates in families.items()
        for number, rate in enumerate(rates, 1)
    }
    tracks = []
    for model, (accuracy, fragility) in models.items():
        ease = {key: draw.random() for key in clean}
        for name, texts in {"clean": clean, **noisy}.items():
            rows = []
            for key, text in texts.items():
                changed = sum(a != b for a, b in zip(clean[key], text, strict=True)) / len(text)
                right = ease[key] + draw.gauss(0, 0.03) < accuracy - fragility * changed
                other = "different" if gold[key] == "paraphrase" else "paraphrase"
                row = {"id": key, "prediction": gold[key] if right else other, "gold": gold[key]}
                rows.append(row if name == "clean" else row | {"text": text, "clean_text": clean[key]})
            tracks.append(Track(model, name, rows, dataset))
    return tracks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "out"
    report(simulated(), out, n_resamples=2000)
    return out


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    out = tmp_path_factory.mktemp("single") / "out"
    report(simulated({"bert-base": (0.9, 1.6)}, examples=100), out, group_by=["gold"], n_resamples=20)
    return out


@pytest.fixture(scope="module")
def browser():
    yield from browsers.running()


HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'{{ 7 * 7 }}$a^b$"


def test_the_page_is_valid_and_complete(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    parser = Strict()
    parser.feed(text)
    assert not parser.open_tags
    assert len(parser.ids) == len(set(parser.ids))
    assert {link[1:] for link in parser.links if link[0] == "#"} <= set(parser.ids)
    assert all((folder / link).is_file() for link in parser.links if link[0] != "#")
    for expected in (
        "Clean, average and worst",
        "Changed predictions",
        "Comparison of models",
        "All predictions match an example.",
        "95 % interval",
    ):
        assert expected in text
    numbers = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for record in numbers["summary"]:
        assert f">{record['worst_average'] * 100:.1f} <small>" in text


def test_no_address_of_another_machine_is_on_the_page(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert "http:" not in text.replace("http-equiv", "")
    assert "https:" not in text
    assert not re.search(r"@import|url\((?!#)|\bsrc=|srcset=", text)


def test_names_and_texts_are_escaped_everywhere(tmp_path):
    rows = [{"id": f"{HOSTILE}{i}", "prediction": HOSTILE, "gold": HOSTILE, HOSTILE: HOSTILE} for i in range(12)]
    noisy = [row | {"prediction": "x", "text": f"{HOSTILE}?", "clean_text": HOSTILE} for row in rows]
    tracks = [
        Track(model, track, some, dataset)
        for dataset in (HOSTILE, "b")
        for model in (HOSTILE, "m")
        for track, some in (("clean", rows), (f"{HOSTILE}.1", noisy), (f"{HOSTILE}.2", noisy[1:]))
    ]
    report(tracks, tmp_path / "out", group_by=[HOSTILE], title=HOSTILE, n_resamples=20)
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    parser = Strict()
    parser.feed(text)
    assert parser.counts["script"] == 1
    assert parser.counts["img"] == 0
    assert not parser.open_tags
    assert "<script>alert" not in text
    assert "onerror=alert(2)>" not in text
    assert text.count("{{ 7 * 7 }}") > 20  # nor is a name a template, or mathematics
    assert "49" not in parser.title


@pytest.mark.parametrize(
    "scores",
    [
        {"clean": [1]},
        {"clean": [1, 0]},
        {"k.1": [0.5, 0.25]},
        {"clean": [1], "k.1": [0]},
        {"clean": [1, 1], "k.1": [1, 1], "k.2": [1, 1]},
        {"clean": [0, 0], "k.1": [0, 0]},
        {"clean": [0.3, 0.4], "k.1": [0.1, 0.2], "s.1": [0.2, 0.3]},
    ],
)
@pytest.mark.parametrize("n_resamples", [0, 20])
def test_small_and_degenerate_reports_have_a_page(tmp_path, scores, n_resamples):
    tracks = [
        Track(model, name, [{"id": i, "score": score, "noise_rate": i / 10} for i, score in enumerate(column)])
        for model in ("a", "b")
        for name, column in scores.items()
    ]
    page = report(tracks, tmp_path / "out", n_resamples=n_resamples).page
    parser = Strict()
    parser.feed(page.read_text(encoding="utf-8"))
    assert not parser.open_tags
    assert parser.counts["table"] >= 2
    assert "nan" not in page.read_text(encoding="utf-8").lower().replace("nano", "")


class Strict(HTMLParser):
    """Notes what the page contains, and fails on a tag that is closed but was not open."""

    VOID = frozenset({"wbr", "meta", "link", "br", "img", "path", "circle", "use", "rect"})

    def __init__(self):
        super().__init__()
        self.open_tags, self.ids, self.links, self.counts, self.title = [], [], [], Counter(), ""

    def handle_starttag(self, tag, attrs):
        self.counts["data" if ("type", "application/json") in attrs else tag] += 1
        for name, value in attrs:
            assert not name.startswith("on")
            if name == "id":
                self.ids.append(value)
            if name == "href" and tag == "a":
                self.links.append(value)
        if tag not in self.VOID:
            self.open_tags.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open_tags.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open_tags.pop() == tag

    def handle_data(self, data):
        if self.open_tags[-1:] == ["title"]:
            self.title += data


FITS = """
const wide = innerWidth;
const boxed = (e) => e.closest(".table, .matrix");
return [document.documentElement.scrollWidth, wide,
  [...document.querySelectorAll("body *")].filter((e) => !boxed(e) && e.getBoundingClientRect().right > wide + 1)
    .map((e) => e.tagName + " " + e.textContent.slice(0, 40)),
  [...document.querySelectorAll(".table, .matrix")].filter((e) => e.scrollWidth > e.clientWidth + 1)
    .map((e) => `${e.getAttribute("aria-label")}: ${e.scrollWidth} px`)]
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_overflows(browser, folder, width):
    browser.open(folder / "index.html", width)
    browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    page, window, outside, cut = browser.run(FITS)
    assert (outside, cut) == ([], [])
    assert page <= window == width


@pytest.mark.parametrize("width", [390, 1280])
def test_all_columns_of_one_model_are_in_sight(browser, single, width):
    browser.open(single / "index.html", width)
    browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    page, window, outside, cut = browser.run(FITS)
    assert (page <= window, outside, cut) == (True, [], [])
    labels = browser.run("""const row = document.querySelector("#d0-annotators tbody tr");
    return [...row.cells].map((cell) => getComputedStyle(cell, "::before").content.includes(cell.dataset.label))""")
    assert len(labels) > 9 and all(labels)


def test_what_one_model_does_not_need_is_folded_and_a_link_opens_it(browser, single, folder):
    browser.open(single / "index.html", 1280)
    folded = """return [...document.querySelectorAll("section > details > summary")].map((each) =>
      [each.textContent, each.parentElement.open])"""
    before = dict(browser.run(folded))
    assert {"Scores by annotator", "Changed predictions"} <= before.keys()
    assert not any(before.values()) and "Clean, average and worst" not in before
    browser.open(single / "index.html", 1280, "#d0-flips")
    assert [title for title, is_open in browser.run(folded) if is_open] == ["Changed predictions"]
    browser.open(folder / "index.html", 1280)
    assert "Scores by annotator" not in dict(browser.run(folded))


def test_the_first_sentence_says_what_noise_costs_and_then_how_it_was_made(single):
    text = (single / "index.html").read_text(encoding="utf-8")
    lead = re.search(r'<p class="headline">(.*?)</p>', text)
    assert re.match(r"Noise “speech” costs \d+\.\d points \[\d+\.\d, \d+\.\d\]; noise “keyboard” costs ", lead[1])
    places = [text.index(part) for part in ("<h1>", lead[0], "What the noise is: ", 'class="table drops', "<section ")]
    assert places == sorted(places)
    assert text.count("What the noise is: ") == 1


def test_long_names_and_many_models_fit_a_phone(browser, tmp_path):
    models = {f"an-organisation/{'very-' * number}long-model-name": (0.9, 1.0) for number in range(8)} | {
        "模" * 60: (0.8, 1)
    }
    report(simulated(models, {"keyboard": (0.1, 0.2)}, examples=40), tmp_path / "out", n_resamples=20)
    browser.open(tmp_path / "out" / "index.html", 390)
    page, window, outside, _ = browser.run(FITS)
    assert (page <= window, outside) == (True, [])
    text_fits = """return [...document.querySelectorAll("figure svg")].flatMap((svg) => {
      const box = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter((t) => t.getBoundingClientRect().right > box.right + 4
        || t.getBoundingClientRect().left < box.left - 4).map((t) => t.textContent)})"""
    assert browser.run(text_fits) == []
    headings_apart = """return [...document.querySelectorAll("figure svg")].flatMap((svg) => {
      const texts = [...svg.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
      return texts.flatMap(([a, x], i) => texts.slice(i + 1).filter(([b, y]) => a && b && x.right > y.left + 1
        && y.right > x.left + 1 && x.bottom > y.top + 3 && y.bottom > x.top + 3).map(([b]) => a + " on " + b))})"""
    assert browser.run(headings_apart) == []


SORTED = """
const table = document.querySelector("#d0-overview table.sortable");
const column = [...table.tHead.rows[0].cells].findIndex((head) => head.textContent.startsWith(arguments[0]));
const button = table.tHead.rows[0].cells[column].querySelector("button");
const seen = () => [...table.tBodies[0].rows].map((row) => row.cells[column].firstChild.textContent.trim());
const result = [seen()];
for (const click of [1, 2]) {
  button.click();
  result.push(seen(), table.tHead.rows[0].cells[column].getAttribute("aria-sort"));
}
result.push(table.querySelectorAll("[aria-sort]").length);
return result
"""


def test_tables_sort_by_number_and_by_name(browser, folder):
    browser.open(folder / "index.html", 1280)
    before, down, first, up, second, marked = browser.run(SORTED.replace("arguments[0]", '"Worst"'))
    values = sorted(map(float, before))
    assert before != [f"{value:.1f}" for value in values]
    assert ([float(text) for text in down], first) == (values[::-1], "descending")
    assert ([float(text) for text in up], second) == (values, "ascending")
    assert marked == 1
    _, up, first, down, second, marked = browser.run(SORTED.replace("arguments[0]", '"Model"'))
    assert (up, first, down, second) == (sorted(up), "ascending", sorted(up)[::-1], "descending")
    assert marked == 1


def test_rows_without_a_value_sort_last(browser, folder):
    browser.open(folder / "index.html", 1280)
    missing = """
    const table = document.querySelector("#d0-annotators table.sortable");
    const column = [...table.tHead.rows[0].cells].findIndex((head) => head.textContent.startsWith("From clean"));
    const button = table.tHead.rows[0].cells[column].querySelector("button");
    const seen = () => [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.sort ?? null);
    return [1, 2].map(() => { button.click(); return seen(); })
    """
    for column in browser.run(missing):
        assert column[-3:] == [None] * 3
        assert None not in column[:-3]


def test_the_first_screen_is_the_drop_of_each_model(browser, folder):
    browser.open(folder / "index.html", 1280)
    seen = browser.run("""
    const table = document.querySelector(".drops table");
    const drops = (column) => [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.sort);
    const before = drops(1);
    const head = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent.trim() === "speech");
    table.tHead.rows[0].cells[head].querySelector("button").click();
    const links = [...table.querySelectorAll("td a")].map((a) => !!document.querySelector(a.getAttribute("href")));
    return [table.getBoundingClientRect().bottom, before, drops(head), links, table.textContent]""")
    bottom, clean, speech, links, text = seen
    assert bottom < 1000
    assert [float(value) for value in clean] == sorted(map(float, clean), reverse=True)  # as it opens: best on clean
    assert [float(value) for value in speech] == sorted(map(float, speech), reverse=True)  # as clicked
    assert links == [True] * 6
    numbers = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for record in numbers["summary"]:
        star = "*" if record["p_holm"] < 0.05 else ""
        assert f"−{record['micro_drop'] * 100:.1f}{star}" in text


def test_edits_are_marked_as_put_in_and_taken_out(tmp_path):
    rows = [{"id": i, "prediction": "y", "gold": "y", "text": "a cat sat"} for i in range(3)]
    noisy = [row | {"prediction": "n", "text": "a bat sa!", "clean_text": "a cat sat"} for row in rows[:2]]
    noisy += [rows[2] | {"prediction": "n", "clean_text": "a cat sat"}]
    page = report([Track("m", "clean", rows), Track("m", "k.1", noisy)], tmp_path / "out").page
    text = page.read_text(encoding="utf-8")
    assert text.count("a <del>c</del><ins>b</ins>at sa<del>t</del><ins>!</ins>") == 2
    assert text.count('<p class="noisy-text">') == 2  # the third text is the clean one: it broke nothing


def test_the_page_says_what_chance_does_to_the_worst(tmp_path):
    draw = Random(2)

    def tossed(name):
        return Track("coin", name, [{"id": i, "score": draw.randint(0, 1)} for i in range(200)])

    tracks = [tossed(name) for name in ("clean", "k.1", "k.2", "k.3")]
    alone = report(tracks, tmp_path / "alone").page.read_text(encoding="utf-8")
    assert "The worst by chance is not known: it needs as many answers to the clean text" in alone
    assert "lapsus run --repeats 3" in alone and ">Worst by chance<" not in alone
    again = report([*tracks, tossed("clean.2"), tossed("clean.3")], tmp_path / "again").page.read_text(encoding="utf-8")
    assert "without noise, from 3 answers to the clean text" in again
    assert ">Worst by chance<" in again


def test_the_page_asks_nobody_for_anything(browser, folder):
    browser.log("performance")
    browser.open(folder / "index.html", 1280)
    time.sleep(0.5)
    messages = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    asked = [
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    ]
    own = (folder / "index.html").as_uri()
    assert own in asked
    assert [url for url in asked if url != own and not url.startswith("data:")] == []
    assert browser.log("browser") == []  # no error, and nothing that the policy of the page had to block
    blocked = """const image = new Image(); image.src = "https://example.invalid/x.png";
    const added = document.createElement("script"); added.textContent = "window.got_in = 1";
    document.body.append(added);
    return window.got_in ?? null"""
    assert browser.run(blocked) is None


def test_dark_and_light_differ(browser, folder):
    papers = []
    for dark in (False, True):
        browser.dark(dark)
        browser.open(folder / "index.html", 1280)
        papers.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
    browser.dark(False)
    assert papers == ["rgb(253, 252, 249)", "rgb(21, 23, 26)"]


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is installed by .ci/run")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_fault(browser, folder, dark):
    browser.dark(dark)
    browser.open(folder / "index.html", 1280)
    browser.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    browser.run("document.querySelector('td.drop a').click()")
    browser.run(AXE.read_text(encoding="utf-8"))
    found = browser.run("""return axe.run({resultTypes: ["violations"]}).then(({ violations }) => violations.map(
      ({ id, help, nodes }) => [id, help, nodes.slice(0, 3).map(({ html, failureSummary }) => [html, failureSummary])]))""")
    browser.dark(False)
    assert found == []


def test_without_script_the_tables_are_there(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert "<button" not in text
    assert text.count("<tr>") > 30


def test_severities_of_one_noise_are_one_curve(tmp_path):
    tracks = [
        Track("m", name, [{"id": i, "score": int(i < right)} for i in range(50)])
        for name, right in {"clean": 50, "h_40%": 10, "h_5%": 45, "h_10%": 40, "typing": 30}.items()
    ]
    text = report(tracks, tmp_path / "out").page.read_text(encoding="utf-8")
    overview = text[text.index('id="d0-overview"') : text.index('id="d0-annotators"')]
    assert re.findall(r"<figcaption>(.*?)</figcaption>", overview) == ["h", "typing"]
    links = re.findall(r'<a href="#(d0-overview-\d)"', text)
    assert links == ["d0-overview-0"] * 3 + ["d0-overview-1"]


def test_groups_count_up_and_the_widest_gap_is_named(tmp_path):
    lengths = ["9", "10 to 20", "100"] * 20
    rows = [{"id": i, "score": 1, "length": length} for i, length in enumerate(lengths)]
    noisy = [row | {"score": int(row["length"] != "100")} for row in rows]
    tracks = [Track("m", "clean", rows), Track("m", "k.1", noisy)]
    text = report(tracks, tmp_path / "out", group_by=["length"]).page.read_text(encoding="utf-8")
    section = text[text.index('id="d0-by0"') : text.index('id="d0-gaps"')]
    assert re.findall(r'data-sort="(9|10 to 20|100)"', section) == ["9", "10 to 20", "100"]
    assert (
        "The widest gap below 5 % (°) is 100.0 points: on k, m scores 100.0 % where length is 9 (20 examples) and 0.0 % where"
        " it is 100 (20 examples)" in section.replace("length is 10 to 20", "length is 9")
    )


def test_a_gap_that_is_not_significant_is_called_so(tmp_path):
    rows = [{"id": i, "score": 1, "room": "ab"[i % 2]} for i in range(40)]
    noisy = [row | {"score": int(row["id"] % 4 < (3 if row["id"] < 20 else 2))} for row in rows]
    tracks = [Track("m", "clean", rows), Track("m", "k.1", noisy)]
    out = tmp_path / "out"
    text = report(tracks, out, group_by=["room"]).page.read_text(encoding="utf-8")
    assert "The widest gap, which may be chance, is 25.0 points: on k, m scores 75.0 % where room is a" in text
    gaps = json.loads((out / "report.json").read_text("utf-8"))["group_gaps"]
    assert [(gap["measure"], gap["worst"], gap["best"], gap["gap"]) for gap in gaps] == [
        ("average", "b", "a", 0.25),
        ("drop", "b", "a", 0.25),
    ]
    assert all(gap["p_value"] > 0.05 and gap["p_bh"] >= gap["p_value"] for gap in gaps)


WAIT = "const wait = (ms) => new Promise((done) => setTimeout(done, ms)); "
STATE = """({count: document.querySelector(".browser p").textContent,
  items: [...document.querySelectorAll(".examples li")].map((item) => item.textContent)})"""


@pytest.fixture(scope="module", params=["inside", "beside"])
def browsed(request, tmp_path_factory):
    """A report whose examples are in the page, and one whose examples are in files beside it."""
    from lapsus.reporting.html import examples as example_parts

    out = tmp_path_factory.mktemp("browsed") / "out"
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "beside":
            patch.setattr(example_parts, "MAX_INLINE_BYTES", 1000)
        report(simulated(examples=60), out, n_resamples=20)
    assert (out / "examples").is_dir() == (request.param == "beside")
    return out


def chosen(**wanted):
    """A script that fills in the form of the examples, and returns what is then shown."""
    sets = "".join(
        f"""{{ const control = [...document.querySelectorAll(".browser label")].find((label) =>
        label.firstChild.textContent === {json.dumps(name.capitalize())}).lastChild; control.value = {json.dumps(value)};
        control.dispatchEvent(new Event("input")); control.dispatchEvent(new Event("change")); }}"""
        for name, value in wanted.items()
    )
    return f"return (async () => {{ {WAIT} {sets} await wait(600); return {STATE} }})()"


def lost_by(model, track, examples=60):
    tracks = {each.track: each for each in simulated(examples=examples) if each.model == model}
    clean = {row["id"]: row["prediction"] == row["gold"] for row in tracks["clean"].rows}
    return {r["id"] for r in tracks[track].rows if clean[r["id"]] and r["prediction"] != r["gold"]}


def test_all_examples_are_found_by_text_track_model_edit_and_outcome(browser, browsed):
    browser.log("browser")
    browser.open(browsed / "index.html", 1280)
    every = browser.run(chosen(track=""))
    assert every["count"] == "360 of 360 examples."
    assert len(every["items"]) == 20
    lost = browser.run(chosen(track="d0-1", model="bert-base", outcome="lost"))
    wanted = lost_by("bert-base", "keyboard.2")
    assert lost["count"] == f"{len(wanted)} of 60 examples."
    assert {item.split(" ·")[0][-6:] for item in lost["items"]} <= wanted
    one = browser.run(chosen(track="", model="", outcome="", search="T-0007"))
    assert one["count"] == "6 of 360 examples."
    assert all("t-0007" in item for item in one["items"])
    assert browser.run(chosen(search="no such words"))["count"] == "0 of 360 examples."
    edits = [
        browser.run(chosen(search="", edits=kind))["count"] for kind in ("insertion", "deletion", "replacement", "none")
    ]
    numbers = [int(count.split()[0]) for count in edits]
    assert numbers[2] > 300
    assert numbers[2] + numbers[3] >= 360
    assert browser.log("browser") == []


def test_a_permalink_leads_to_one_example(browser, browsed):
    browser.open(browsed / "index.html", 1280, "#example=d0-4:t-0033")
    state = browser.run(f"return (async () => {{ {WAIT} await wait(600); return {STATE} }})()")
    assert state["count"].startswith("One example.")
    [item] = state["items"]
    assert "t-0033 · speech.2" in item
    row = next(
        row
        for track in simulated(examples=60)
        if track.track == "speech.2"
        for row in track.rows
        if row["id"] == "t-0033"
    )
    marked = browser.run("""const text = document.querySelector(".examples .text-of");
      const without = (tag) => { const copy = text.cloneNode(true); copy.querySelectorAll(tag).forEach((e) => e.remove());
        return copy.textContent }; return [without("ins"), without("del")]""")
    assert marked == [row["clean_text"], row["text"]]


def test_a_cell_shows_what_is_behind_it(browser, browsed):
    browser.open(browsed / "index.html", 1280)
    seen = browser.run(f"""return (async () => {{ {WAIT}
    const cell = [...document.querySelectorAll("td.drop a")].find((a) => a.dataset.model === "bert-base" && a.dataset.family === "speech");
    cell.click(); await wait(100);
    const panel = document.querySelector(".drill");
    const told = [panel.hidden, panel.querySelector("h2").textContent, panel.querySelectorAll("tbody tr").length, document.activeElement === panel];
    panel.querySelectorAll("p a")[1].click(); await wait(600);
    return [told, {STATE}] }})()""")
    told, state = seen
    assert told == [False, "bert-base on speech", 3, True]
    lost = sum(len(lost_by("bert-base", f"speech.{number}")) for number in (1, 2, 3))
    assert state["count"] == f"{lost} of 180 examples."
    assert all("(lost)" in item and "roberta" not in item for item in state["items"])


def test_too_many_examples_are_those_that_most_models_lost(monkeypatch):
    from lapsus.reporting.html import examples as example_parts
    from lapsus.reporting.score_table import align_tracks

    monkeypatch.setattr(example_parts, "MAX_EXAMPLES", 6 * 5)
    for part in example_parts.iter_example_parts(align_tracks(simulated(examples=60))):
        data = json.loads(part.json)
        assert data["n_examples"] == 60
        counts = Counter(key for model in MODELS for key in lost_by(model, part.track))
        assert [counts[key] for key in data["ids"]] == sorted(counts.values(), reverse=True)[:5]


def test_another_text_is_not_passed_off_as_the_one_that_is_shown():
    from lapsus.reporting.html.examples import iter_example_parts
    from lapsus.reporting.score_table import align_tracks

    rows = [{"id": i, "prediction": "a", "gold": "a", "text": f"text {i}", "clean_text": "text"} for i in range(3)]
    other = [row | {"text": f"{row['text']}!"} if row["id"] == 1 else row for row in rows]
    clean = [{"id": i, "prediction": "a", "gold": "a", "text": "text"} for i in range(3)]
    tracks = [Track("m", "clean", clean), Track("n", "clean", clean), Track("m", "k", rows), Track("n", "k", other)]
    [part] = iter_example_parts(align_tracks(tracks))
    mine, its = json.loads(part.json)["models"]
    assert {mine["pairs"][place][2] for place in mine["pair_indices"]} == {"unchanged"}
    assert [its["pairs"][place][2] for place in its["pair_indices"]] == ["unchanged", "unchanged other", "unchanged"]


def test_rows_without_a_score_are_shown_as_unanswered():
    from lapsus.reporting.html.examples import iter_example_parts
    from lapsus.reporting.score_table import align_tracks

    clean = [{"id": i, "score": 1.0, "text": "a"} for i in range(3)]
    noisy = [{"id": i, "score": score, "text": "b", "clean_text": "a"} for i, score in enumerate([0.0, None, 1.0])]
    [part] = iter_example_parts(align_tracks([Track("m", "clean", clean), Track("m", "k", noisy)]))
    data = json.loads(part.json)
    [model] = data["models"]
    predictions = {key: model["pairs"][index][1] for key, index in zip(data["ids"], model["pair_indices"], strict=True)}
    assert predictions == {"0": "score 0", "1": "(no answer)", "2": "score 1"}


def test_predictions_of_many_words_are_shown_as_they_were_written():
    from lapsus.reporting.html.examples import iter_example_parts
    from lapsus.reporting.score_table import align_tracks

    clean = [{"id": i, "prediction": f"answer {i}", "gold": f"answer {i}", "text": "a"} for i in range(300)]
    noisy = [row | {"prediction": f"said {row['id']}", "clean_text": "a", "text": "b"} for row in clean]
    [part] = iter_example_parts(align_tracks([Track("m", "clean", clean), Track("m", "k", noisy)]))
    data = json.loads(part.json)
    [model] = data["models"]
    pairs = {key: model["pairs"][index] for key, index in zip(data["ids"], model["pair_indices"], strict=True)}
    assert pairs == {str(i): [f"answer {i}", f"said {i}", "lost"] for i in range(300)}
    assert dict(zip(data["ids"], data["golds"], strict=True))["250"] == "answer 250"


@pytest.mark.slow
def test_twelve_models_on_twenty_tracks_print_on_few_pages(browser, tmp_path):
    models = {f"model-{number:02}": (0.95 - number / 100, 1.0) for number in range(12)}
    families = {f"noise{number}": (0.05, 0.1, 0.15) for number in range(6)} | {"other": (0.1,)}
    tracks = simulated(models, families, examples=60)
    out = tmp_path / "out"
    report(tracks, out, group_by=["gold"], n_resamples=20)
    browser.open(out / "index.html", 1280)
    assert browser.pdf()[1] < 20
    page, window, outside, _ = browser.run(FITS)
    assert (page <= window, outside) == (True, [])
    browser.open(out / "index.html", 768)
    page, window, outside, _ = browser.run(FITS)
    assert (page <= window, outside) == (True, [])
