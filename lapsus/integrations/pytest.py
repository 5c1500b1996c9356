"""A pytest plug-in: `assert_robust` fails where noise certainly costs more than a margin.

    def test_my_model(assert_robust):
        assert_robust(answer, rows, noise="typed", margin=0.05, text="question", gold="answer")

Where the examples do not decide, the test is skipped as inconclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest


def assert_robust(
    model: Any,
    rows: Any,
    *,
    text: str | Sequence[str] = "text",
    gold: str = "gold",
    noise: str | Sequence[str] = "typed",
    margin: float = 0.05,
    score: Sequence[Any] = (),
    id: str = "id",
    language: str | None = None,
    seed: int = 0,
    **options: Any,
) -> None:
    """Fail where the drop under noise is certain and not below the margin; skip where the examples do not decide.

    It also fails where noise changes no text, and where calls of the model fail.

    Args:
        model: A function of rows, `hf:PATH`, `http://HOST/v1#NAME`, or an adapter, as `lapsus.run` takes it.
        rows: A file, a list of rows, a data frame or a `datasets.Dataset`.
        text: The column of texts, or several.
        gold: The column of gold answers.
        noise: Presets, or `[TRACK=]OPERATOR[:ANNOTATORS][@SEVERITY]`.
        margin: The drop that does not matter, as a fraction.
        score: Scorers of free answers; by default one that fits the gold answers.
        id: The column of ids.
        language: The code of the language; by default what the texts tell.
        seed: The seed of the noise.
        options: Of the model and of `lapsus.run`.
    """
    __tracebackhide__ = True
    from lapsus.evaluation.check_plan import plan_check
    from lapsus.evaluation.runner import run
    from lapsus.reporting.analysis.measure import measure
    from lapsus.reporting.analysis.records import AnalysisOptions
    from lapsus.reporting.gate import FAILED, INCONCLUSIVE, find_problems, judge_report

    settings = AnalysisOptions(margin=margin)  # a margin that decides nothing is refused before the model runs
    specs = [noise] if isinstance(noise, str) else list(noise)
    plan = plan_check(rows, text, gold, id=id, score=score, noise=specs, language=language, seed=seed)
    numbers = measure(run(plan.data.task, plan.data, model, score=plan.settings["score"], **options), settings)
    outcomes = judge_report(numbers)
    failures = [f"{each.place}: {each.message}" for each in outcomes if each.outcome == FAILED]
    if failures or not outcomes:
        pytest.fail("not robust: " + "; ".join(failures or find_problems(numbers)), pytrace=False)
    if unclear := [f"{each.place}: {each.message}" for each in outcomes if each.outcome == INCONCLUSIVE]:
        pytest.skip("inconclusive: " + "; ".join(unclear))


@pytest.fixture(name="assert_robust")
def provide_assert_robust() -> Callable[..., None]:
    """Return `assert_robust`."""
    return assert_robust
