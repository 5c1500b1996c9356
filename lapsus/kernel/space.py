"""The app of a metric's Space: its columns and options as JSON in, its result as JSON out.

>>> answer(lambda predictions: {"sum": sum(predictions)}, '{"predictions": [2, 3]}')
{'sum': 5}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def answer(metric: Callable[..., dict[str, Any]], text: str) -> dict[str, Any]:
    """Return the metric's result for a JSON object of its columns and options."""
    try:
        columns_and_options = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"The input is no JSON ({error}): write one object, as in the example.") from None
    if not isinstance(columns_and_options, dict):
        raise TypeError(f"The input is {text[:40]!r}: write one JSON object, as in the example.")
    return metric(**columns_and_options)


def app(metric: Callable[..., dict[str, Any]], example: dict[str, Any]) -> Any:
    """Return the gradio app of a metric, filled with an example."""
    import gradio

    def respond(text: str) -> dict[str, Any]:
        try:
            return answer(metric, text)
        except (TypeError, ValueError) as error:
            raise gradio.Error(str(error)) from None

    return gradio.Interface(
        fn=respond,
        inputs=gradio.Code(json.dumps(example, ensure_ascii=False, indent=1), language="json", label="Input"),
        outputs=gradio.JSON(label="Result"),
        title=metric.__name__,
        description=f"```\n{metric.__doc__}\n```",
        flagging_mode="never",
        api_name=metric.__name__,
    )
