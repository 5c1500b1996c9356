"""Rewording as noise: what a rewriter proposes is filtered, counted, and kept in a file that replays."""

from __future__ import annotations

import json

import pytest
from chat_double import serve_chat
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from lapsus.cli.main import main
from lapsus.core.edits import Edit, apply
from lapsus.core.messages import USER_ERRORS
from lapsus.evaluation import TrackSet, add_noise, make_task, run
from lapsus.evaluation.models.function import FunctionModel
from lapsus.evaluation.rewording import (
    Draw,
    Rewriter,
    Source,
    describe_draw,
    draw_rewordings,
    open_rewriter,
    replace_middle,
)

TEXTS = ["will it rain tomorrow in Oslo", "play a song by Ada", "slow down"]
ROWS = [{"id": f"r{n}", "question": text, "answer": "ab"[n % 2]} for n, text in enumerate(TEXTS)]
WORDS = {
    TEXTS[0]: ["is rain expected for the next day in Oslo", "does Oslo get wet weather next day"],
    TEXTS[1]: ["put on something that Ada made", "I want to hear music of Ada"],
    TEXTS[2]: ["please drive with less speed", "reduce your pace"],
}
PROGRAMS = f"""
import json

WORDS = {WORDS!r}
SEEN = []


def rewrite(rows):
    SEEN.extend(rows)
    return [(WORDS[row["text"]] * 9)[int(row["way"]) - 1] for row in rows]


def judge(rows):
    return [json.dumps({{"verdict": "wrong" if "pace" in row["request"] else "right"}}) for row in rows]


def answer(rows):
    return ["a" for row in rows]
"""
MODEL = "python:programs_of_test:rewrite"


@pytest.fixture
def programs(tmp_path, monkeypatch):
    (tmp_path / "programs_of_test.py").write_text(PROGRAMS)
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "programs_of_test", raising=False)
    import programs_of_test

    return programs_of_test


def model_of(function):
    return FunctionModel(lambda rows: [function(row["text"], int(row["way"])) for row in rows], "rewriter", "1")


def draw(text, candidates, values=(), judge=None, count=1):
    """Return the rewordings of one text, and the reasons for which the other candidates were rejected."""
    padded = [*candidates, *[text] * 2 * count]
    drawn = draw_rewordings(
        [Source("a", "text", text, tuple(values))], count, model_of(lambda _, way: padded[way - 1]), judge
    )
    return list(drawn.texts.get(text, ())), dict(drawn.rejected)


def run_command(*words):
    given = ["run", "--rows", "mine.jsonl", "--text", "question", "--gold", "answer"]
    return CliRunner().invoke(main, [*given, "--model", "python:programs_of_test:answer", *words])


def read_lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@given(st.text("ab ", max_size=9), st.text("ab ", max_size=9))
def test_the_edit_makes_the_rewording_of_whole_words(text, other):
    edits = replace_middle(text, other)
    assert apply(text, edits) == other and len(edits) == (text != other)
    for edit in edits:
        assert text[edit.start - 1 : edit.start].strip() == "" == text[edit.end : edit.end + 1].strip()


@pytest.mark.parametrize(
    ("text", "candidate", "reason"),
    [
        ("will it rain", "Will it rain?", "repeat the text or another"),
        ("will it rain in Oslo today", "will it rain in Oslo today then", "are too near"),
        ("will it rain", "  ", "are empty"),
        ("will it rain", "I'm sorry, I cannot do that", "refuse"),
        ("will it rain", "明天下雨吗", "are in another writing"),
        ("花呗怎么提额", "how do I raise the limit", "are in another writing"),
        ("will it rain", "is rain expected\nI changed the words", "are no single text"),
        ("will it rain", "is rain expected " * 9, "are too long"),
    ],
)
def test_what_is_not_the_same_in_other_words_is_rejected_with_the_reason(text, candidate, reason):
    texts, rejected = draw(text, [candidate, candidate])
    assert texts == [] and rejected == {reason: 2} and reason in describe_draw(Draw("m", {text: []}, rejected), 1)


def test_values_that_the_answer_needs_survive_as_whole_words():
    text = "please move order 7890 to Friday"
    bad, good = "shift my order 78901 to the end of the week", "shift what I bought, 7890, to the end of the week"
    assert draw(text, [bad, good], ["7890"]) == ([good], {"lack a value": 1})
    assert draw(text, [bad, good]) == ([bad], {})


def test_a_judge_compares_in_both_directions():
    class OneWay:
        name = "judge:one-way"

        def score(self, answers):
            assert [answer.text for answer in answers[:2]] == [answers[1].gold, answers[0].gold]
            from lapsus.evaluation.scorers import AnswerScore

            return [AnswerScore(float(answer.text != TEXTS[2] or "drive" in answer.gold)) for answer in answers]

    first, second = "reduce your pace", "please drive with less speed"
    assert draw(TEXTS[2], [first, second], judge=OneWay()) == ([second], {"mean something else": 1})


def test_fewer_tracks_are_the_first_of_more_and_equal_texts_share_requests(programs):
    data = TrackSet.from_rows(
        "mine", make_task("text", "label"), [{"id": n, "text": TEXTS[2], "label": "a"} for n in "ab"]
    )
    few, more = (
        add_noise(data, [spec], rewriter=open_rewriter([spec], programs.rewrite))
        for spec in ("reworded:1", "reworded:2")
    )
    assert few.tracks["reworded.1"] == more.tracks["reworded.1"]
    assert [row["text"] for row in more.tracks["reworded.2"]] == ["reduce your pace"] * 2
    assert len(programs.SEEN) == 1 + 2


def test_a_text_without_a_rewording_stays_clean_and_is_counted():
    task = make_task("text", "label")
    rows = [{"id": "a", "text": TEXTS[2], "label": "a"}, {"id": "b", "text": TEXTS[1], "label": "b"}]
    model = model_of(lambda text, _: WORDS[text][0] if text == TEXTS[2] else text)
    noisy = add_noise(TrackSet.from_rows("mine", task, rows), ["reworded:2"], rewriter=Rewriter(model))
    first, second = noisy.tracks["reworded.1"], noisy.tracks["reworded.2"]
    assert [row["text"] for row in first] == [WORDS[TEXTS[2]][0], TEXTS[1]]
    assert [row["text"] for row in second] == [TEXTS[2], TEXTS[1]] and second[0]["edits"] == []
    (note,) = (note for note in noisy.notes if note.startswith("reworded:"))
    assert "0 of 2 texts have 2, 1 have fewer and stay clean on the other tracks, 1 stay clean" in note
    assert any("no judge has compared" in note for note in noisy.notes)


def test_labels_are_no_values_but_gold_answers_and_protected_columns_are():
    rows = [{"id": "a", "text": "play a song by Ada", "gold": "song", "who": "Ada"}]
    seen = {}
    for name, task, protect in (
        ("labels", make_task("text", "gold", labels=["song", "film"]), ()),
        ("gold", make_task("text", "gold"), ()),
        ("who", make_task("text", "gold", labels=["song", "film"]), ("who",)),
    ):
        model = model_of(
            lambda _, way: ["I would like to hear her music", "which song has Bob made", "let Ada sing", "no"][way - 1]
        )
        noisy = add_noise(
            TrackSet.from_rows("mine", task, rows), ["words=reworded:2"], protect=protect, rewriter=Rewriter(model)
        )
        seen[name] = noisy.tracks["words.1"][0]["text"]
    assert seen == {
        "labels": "I would like to hear her music",
        "gold": "which song has Bob made",
        "who": "let Ada sing",
    }


def test_the_turns_of_users_are_reworded_and_no_others():
    chat = [
        {"role": "system", "content": "slow down"},
        {"role": "user", "content": "slow down"},
        {"role": "assistant", "content": "slow down"},
        {"role": "user", "content": "why does `slow down` fail"},
    ]
    data = TrackSet.from_rows("mine", make_task("messages", "answer"), [{"id": "c", "messages": chat, "answer": "x"}])
    noisy = add_noise(data, ["reworded"], rewriter=Rewriter(model_of(lambda *_: "reduce your pace")))
    (row,) = noisy.tracks["reworded"]
    assert [each["content"] for each in row["messages"]] == [
        "slow down",
        "reduce your pace",
        "slow down",
        "why does `slow down` fail",
    ]


def test_a_run_keeps_a_file_that_replays_byte_for_byte(programs, tmp_path):
    done = run_command("--noise", "reworded:2", "--rewriter", MODEL, "--out", "out")
    assert done.exit_code == 0, done.output
    assert "reworded: 3 of 3 texts have 2" in done.output and "no judge has compared" in done.output
    file = tmp_path / "out" / "mine" / "reworded.jsonl"
    lines = read_lines(file)
    assert [(line["id"], line["number"], line["text"]) for line in lines] == [
        (row["id"], n + 1, WORDS[row["question"]][n]) for row in ROWS for n in range(2)
    ]
    assert {line["model"] for line in lines} == {
        line["model"] for line in lines if MODEL[7:].replace(":", ".") in line["model"]
    }
    n_seen = len(programs.SEEN)
    again = run_command("--noise", "reworded:2", "--rewordings", str(file), "--out", "again")
    assert again.exit_code == 0, again.output
    assert len(programs.SEEN) == n_seen  # nothing is asked
    for track in ("reworded.1", "reworded.2"):
        first, second = (next((tmp_path / out).rglob(f"{track}.jsonl")) for out in ("out", "again"))
        assert first.read_bytes() == second.read_bytes()
        for row in read_lines(first):
            edits = [Edit(edit["start"], edit["end"], edit["text"]) for edit in row["edits"]]
            assert apply(row["clean_text"], edits) == row["text"] != row["clean_text"]
            assert row["operator"].startswith("Reworded(model='python:programs_of_test.rewrite at ")
            assert "version='1'" in row["operator"]
    assert run_command("--noise", "reworded:2", "--rewriter", MODEL, "--out", "out").exit_code == 0
    assert len(programs.SEEN) == n_seen  # all replies are cached
    report = CliRunner().invoke(main, ["report", "out", "--out", "report"])
    assert report.exit_code == 0, report.output


def test_a_file_of_other_texts_or_changed_by_hand_is_refused(programs, tmp_path):
    run(
        make_task("question", "answer"),
        ROWS,
        programs.answer,
        noise=["reworded"],
        rewriter=programs.rewrite,
        out=tmp_path / "out",
    )
    file = tmp_path / "out" / "rows" / "reworded.jsonl"
    lines = read_lines(file)

    def replay(rows=ROWS, noise="reworded", **changes):
        file.write_text("".join(json.dumps(line | changes) + "\n" for line in lines))
        return run(make_task("question", "answer"), rows, programs.answer, noise=[noise], rewordings=file)

    assert [track.track for track in replay()] == ["clean", "reworded"]
    older = replay(prompt="0")[1].rows[0]  # the file says which prompt its rewordings are of
    assert "version='0'" in older["operator"] and older["text"] == WORDS[TEXTS[0]][0]
    others = [{**ROWS[0], "question": "will it snow"}]
    for sentence, call in {
        "drawn from other texts: row 'r0' has 'will it snow'": lambda: replay(others),
        "has no rewording 2 of 'question' in row 'r0'": lambda: replay(noise="reworded:2"),
        "has no rewording 1 of 'question' in row 'new'": lambda: replay([{**ROWS[0], "id": "new"}]),
        "row 1 was changed": lambda: replay(text="drive slowly"),
        "row 1 is no rewording": lambda: replay(edits=[{"start": 1}]),
    }.items():
        with pytest.raises(USER_ERRORS, match=sentence):
            call()


@pytest.mark.usefixtures("programs")
def test_a_judge_of_the_command_line_rejects(tmp_path):
    words = ["--noise", "reworded:2", "--rewriter", MODEL, "--rewriter-judge", "python:programs_of_test:judge"]
    done = run_command(*words, "--out", "out")
    assert done.exit_code == 0, done.output
    assert "2 of 3 texts have 2, 1 have fewer" in done.output and "1 mean something else" in done.output
    assert "no judge" not in done.output
    texts = [line["text"] for line in read_lines(tmp_path / "out" / "mine" / "reworded.jsonl") if line["id"] == "r2"]
    assert texts == ["please drive with less speed", TEXTS[2]]


def test_a_text_metric_compares_by_a_threshold():
    class Metric:
        name = "similarity:words"

        def score(self, answers):
            from lapsus.evaluation.scorers import AnswerScore

            return [AnswerScore(0.8 if "pace" in answer.text + answer.gold else 0.79) for answer in answers]

    candidates = ["please drive with less speed", "reduce your pace"]
    assert draw(TEXTS[2], candidates, judge=Metric()) == (["reduce your pace"], {"mean something else": 1})


@pytest.mark.usefixtures("programs")
def test_an_endpoint_rewrites():
    with serve_chat() as server:
        done = run_command("--noise", "reworded", "--rewriter", server.url("plain"), "--out", "out")
    assert done.exit_code == 0, done.output
    assert "3 of 3 texts have 1" in done.output  # it says "yes" to everything
    assert all("Keep its meaning" in request["messages"][-1]["content"] for request in server.requests)
    with serve_chat() as server:
        done = run_command("--noise", "reworded", "--rewriter", server.url("refuser"), "--out", "refused")
    assert done.exit_code == 0 and "6 were not answered" in done.output, done.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--noise", "reworded:3"], "reworded:3 needs a model that rewrites texts; name one with --rewriter MODEL, or"),
        (["--noise", "reworded:3@0.5", "--rewriter", MODEL], "'reworded:3@0.5' is no noise spec"),
        (["--noise", "reworded+filler_eos", "--rewriter", MODEL], "reworded stands alone"),
        (["--noise", "reworded:0", "--rewriter", MODEL], "give a number from 1 to"),
        (["--noise", "filler_eos", "--rewriter", MODEL], "--rewriter belongs to --noise reworded:N"),
        (["--noise", "reworded", "--noise", "b=reworded", "--rewriter", MODEL], "names reworded 2 times"),
        (["--noise", "reworded", "--rewriter-judge", MODEL], "nothing rewrites; add --rewriter MODEL"),
        (["--noise", "reworded", "--rewordings", "none.jsonl"], "none.jsonl: no such file"),
        (["--noise", "reworded", "--rewordings", "mine.jsonl"], "row 1 is no rewording"),
        (["--noise", "reworded", "--rewordings", "mine.jsonl", "--rewriter", MODEL], "leave out"),
        (["--noise", "reworded", "--rewriter", MODEL, "--dry-run"], "--dry-run sends nothing"),
    ],
)
def test_a_mistake_costs_one_sentence(programs, words, sentence):
    done = run_command(*words, "--out", "out")
    assert done.exit_code != 0 and sentence in " ".join(done.output.split()), done.output
    assert "Traceback" not in done.output and programs.SEEN == []


@pytest.mark.usefixtures("programs")
def test_the_preset_of_check_is_reworded_by_a_model(tmp_path):
    words = ["check", "mine.jsonl", "--text", "question", "--gold", "answer", "--no-open"]
    done = CliRunner().invoke(
        main, [*words, "--model", "python:programs_of_test:answer", "--noise", "reworded", "--rewriter", MODEL]
    )
    assert done.exit_code == 0, done.output
    assert "reworded: 3 draws, words of the rewriter" in done.output
    assert f"--rewriter {MODEL}" in done.output and "--noise reworded:3" in done.output
    assert (tmp_path / "check" / "mine" / "reworded.jsonl").is_file()
