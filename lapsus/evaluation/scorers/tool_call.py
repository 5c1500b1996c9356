"""Tool calls as answers: right where they are the accepted ones, by the rules of BFCL."""

from __future__ import annotations

from lapsus.evaluation.call_match import match_calls
from lapsus.evaluation.scorers import Answer, AnswerScore, FunctionScorer, Scorer, ScorerOptions, ScorerProvider
from lapsus.evaluation.tool_calls import list_functions, read_calls

FUNCTION_COLUMNS = ("tools", "functions", "function")


def rate_calls(answer: Answer) -> AnswerScore:
    """Return whether all calls are right, with the names and the share of the arguments as parts."""
    described = next((answer.row[name] for name in FUNCTION_COLUMNS if answer.row.get(name)), None)
    match = match_calls(read_calls(answer.prediction), answer.gold, list_functions(described))
    parts = {"right tool": float(match.right_tool), "right arguments": match.right_arguments}
    return AnswerScore(float(match.right), match.reason, parts)


def open_tool_call(_: str, __: ScorerOptions) -> Scorer:
    """Return the scorer; columns `tools`, `functions` or `function` say the types of arguments, where there is one."""
    return FunctionScorer("tool-call", rate_calls)


UNITS = (
    ScorerProvider(
        "tool-call", "tool-call", "tool calls that equal the accepted ones, as BFCL matches them", open_tool_call
    ),
)
