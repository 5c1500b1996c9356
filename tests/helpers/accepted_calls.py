"""The calls that a gold answer of BFCL accepts."""

import json


def make_accepted(possible):
    """Return the first accepted value; None where the argument may be left out only."""
    if isinstance(possible, dict):
        return {key: value for key, each in possible.items() if (value := make_accepted(each)) is not None}
    for each in possible if isinstance(possible, list) else [possible]:
        if isinstance(each, dict):
            return make_accepted(each)
        if isinstance(each, list) and each and all(isinstance(item, dict) for item in each):
            return [make_accepted(item) for item in each]
        if each != "":
            return each
    return None


def list_accepted_calls(gold):
    """Return calls that are right, by the JSON of gold calls."""
    return [
        {"name": name, "arguments": make_accepted(arguments)}
        for call in json.loads(gold)
        for name, arguments in call.items()
    ]
