"""What lies beside the page: where the numbers come from, tables and plots to take away, and their bytes repeat."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from hashlib import sha256
from pathlib import Path
from random import Random

import jsonschema
import pytest
from click.testing import CliRunner
from paths import ROOT
from PIL import Image

from lapsus.cli.main import main
from lapsus.reporting.html import plots
from lapsus.reporting.html.render import build_chapters, draw_plots
from lapsus.reporting.html.tables import escape_latex, to_latex, to_markdown
from lapsus.reporting.report import report
from lapsus.reporting.tracks import read_tracks


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    draw, folder = Random(3), tmp_path_factory.mktemp("in")
    for model in ("bert_base", "cnn"):
        for name, rate in (("clean", 0.9), ("typing.1", 0.7), ("typing.2", 0.6), ("speech.1", 0.5)):
            rows = []
            for number in range(60):
                gold = "yes" if number % 3 else "no"
                wrong = "no" if gold == "yes" else "yes"
                said = gold if draw.random() < rate else wrong
                text = {"text": f"a text {number}", "room": "hall" if number % 2 else "attic"}
                noisy = {} if name == "clean" else {"clean_text": text["text"], "text": f"a txt {number}"}
                rows.append({"id": number, "prediction": said, "gold": gold} | text | noisy)
            place = folder / model / f"{name}.jsonl"
            place.parent.mkdir(exist_ok=True)
            place.write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / model / "run.json").write_text(
            json.dumps({"model_identity": "hf:x at 0a1", "data_identity": "d at 77"})
        )
    return sorted(folder.rglob("*.jsonl"))


@pytest.fixture(scope="module")
def made(files, tmp_path_factory):
    return report(read_tracks(files), tmp_path_factory.mktemp("report") / "out", group_by=["room"], n_resamples=50)


def test_the_page_and_the_json_say_where_the_numbers_come_from(files, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    command = ["report", *map(str, files), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert told["provenance"]["command"] == " ".join(["lapsus", *command])
    assert told["provenance"]["date"] == "2027-01-15T08:00:00Z"
    assert {"lapsus", "numpy", "scipy"} <= told["provenance"]["packages"].keys()
    assert [record["sha256"] for record in told["sources"]] == [sha256(path.read_bytes()).hexdigest() for path in files]
    assert {record["identity"] for record in told["sources"]} == {"hf:x at 0a1"}
    assert told["datasets"][0]["examples"] == 60
    text = (tmp_path / "out" / "index.html").read_text()
    for word in ("2027-01-15T08:00:00Z", told["datasets"][0]["blake2b"], told["sources"][0]["sha256"], "hf:x at 0a1"):
        assert word in text
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert CliRunner().invoke(main, command).exit_code == 0
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    assert "SOURCE_DATE_EPOCH is 'soon'; give" in CliRunner().invoke(main, command).output


def test_the_hash_of_the_data_is_that_of_the_examples(files):
    from lapsus.reporting.report import digest_datasets
    from lapsus.reporting.score_table import align_tracks

    tracks = read_tracks(files)
    [one], [same] = digest_datasets(align_tracks(tracks)), digest_datasets(align_tracks(tracks[4:]))
    assert one == same
    other = [track for track in tracks if track.model == "cnn"]
    rows = [dict(row) | {"gold": "yes"} for row in other[0].rows]
    from dataclasses import replace

    [changed] = digest_datasets(align_tracks([replace(other[0], rows=rows)]))
    assert changed.blake2b != one.blake2b


def test_the_json_is_as_its_schema_says(made):
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text())
    told = json.loads((made.folder / "report.json").read_text())
    jsonschema.validate(told, schema)
    assert told["schema"] == schema["properties"]["schema"]["const"]
    told["summary"][0]["micro_average"] = "high"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(told, schema)


def test_the_tables_are_data_frames(made):
    frames = made.frames
    assert set(frames) >= {"summary", "tracks", "comparisons", "groups", "sources"}
    summary = frames["summary"].set_index(["model", "family"])
    told = {
        (r["model"], r["family"]): r["micro_drop"]
        for r in json.loads((made.folder / "report.json").read_text())["summary"]
    }
    assert summary["micro_drop"].to_dict() == told
    assert Path(made) == made.page and str(made) == str(made.page)


def test_a_report_is_shown_by_notebooks_and_read_by_pandas(made):
    assert made.to_pandas("tracks").equals(made.frames["tracks"])
    assert made.to_pandas().equals(made.numbers.to_pandas("summary"))
    with pytest.raises(LookupError, match="there is no table 'track'; did you mean tracks"):
        made.to_pandas("track")
    shown = made._repr_html_()
    assert f'href="{made.page.absolute().as_uri()}"' in shown
    numbers = made.numbers
    for text, column in ((shown, 1), (numbers._repr_html_(), numbers.to_pandas().columns.get_loc("family"))):
        rows = ET.fromstring(f"<div>{text}</div>").findall(".//tbody/tr")  # noqa: S314 - our own
        assert [row[column].text for row in rows] == [record.family for record in numbers.summary]


def test_every_link_of_the_page_leads_to_a_file(made):
    links = re.findall(r'href="([^"#]+)"', made.page.read_text())
    found = {link for link in links if not link.startswith("data:")}
    assert {Path(link).suffix for link in found} == {".json", ".csv", ".md", ".tex", ".svg", ".png"}
    assert all((made.folder / link).is_file() for link in found)
    beside = {path.relative_to(made.folder).as_posix() for path in made.folder.rglob("*") if path.is_file()}
    assert beside - found == {"index.html", "scores.parquet", "junit.xml", "summary.md"}


def test_plots_stand_alone(made):
    for path in made.folder.glob("plots/*.svg"):
        text = path.read_text()
        assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg" and "var(" not in text  # noqa: S314 - our own
        with Image.open(path.with_suffix(".png")) as image:
            colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 24)}
        assert image.width == 2 * 360 and (255, 255, 255) in colours


def test_no_point_of_a_plot_is_cut_off(made):
    for path in made.folder.glob("plots/*.svg"):
        parts = ET.fromstring(path.read_text()).iter("{http://www.w3.org/2000/svg}g")  # noqa: S314 - our own
        clipped = [part for group in parts if "clip-path" in group.attrib for part in group]
        assert not [part for part in clipped if part.tag.endswith("use")]  # a point


def test_plots_are_the_same_in_any_process(made, monkeypatch):
    chapters = build_chapters(made.numbers)
    monkeypatch.setattr(plots, "MIN_PARALLEL", 1)
    with draw_plots(chapters) as elsewhere:
        drawn = dict(elsewhere)
    monkeypatch.setattr(plots, "MIN_PARALLEL", 100)
    with draw_plots(chapters) as here:
        assert dict(here) == drawn
    for key, drawing in drawn.items():
        assert (made.folder / "plots" / f"{key}.png").read_bytes() == drawing.png
        assert (made.folder / "plots" / f"{key}.svg").read_text() == drawing.to_standalone_svg()


def test_tables_hold_the_numbers_of_the_page(made):
    text = (made.folder / "tables" / "d0-overview.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|\n").split(" | ")] for line in text.splitlines()]
    numbers = {(r.model, r.family): r.averages.micro_average for r in made.numbers.summary}
    titles = rows[0]
    for row in rows[2:]:
        wanted = numbers[row[0], row[1]]
        low, high = (f"{100 * end:.1f}" for end in wanted.interval)
        assert row[titles.index("Average (%)")] == f"{100 * wanted.value:.1f} [{low} to {high}]"
    tex = (made.folder / "tables" / "d0-overview.tex").read_text()
    assert r"bert\_base" in tex and r"\toprule" in tex and tex.count(r" \\") == len(rows) - 1


def test_latex_escapes_what_it_takes_for_commands():
    from lapsus.reporting.html.tables import Cell, make_table

    hostile = "\\input{x} $a_b^c$ ~ # & 100 %"
    assert not re.search(
        r"(?<!\\)[_#&%~^]", escape_latex(hostile).replace("\\textasciicircum", "").replace("\\textasciitilde", "")
    )
    found = make_table("A", [{"M": Cell(hostile, hostile, "n|o", bold=True)}])
    assert r"\textbackslash{}input\{x\}" in to_latex(found) and r"\|" in to_markdown(found)
