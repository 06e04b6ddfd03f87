"""How a real API server is asked what it makes of many expressions at once: each is a rule of a definition.

A rule that does not compile is told with its path. One that does is broken by every object, and its message is its
value.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import httpx2

from mooring.testing.http import Api
from tests.conformance.language.samples import SPEC, VALUES, definition

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_RULE: Final = re.compile(r"x-kubernetes-validations\[([0-9]+)\]\.rule$")
_ESTIMATE: Final = re.compile(r"properties\[p([0-9]+)\]\.x-kubernetes-validations\[0\]\.rule$")
_TOLD: Final = re.compile(r"(?s)Invalid value: ([0-9]+):(.*)")
_FAILED: Final = re.compile(r'(?s)Invalid value: "object": (.*?)(?:: | evaluating rule: )m([0-9]+)$')
_UNSAID: Final = re.compile("Invalid value: m([0-9]+)")
# Of a value of several lines nothing is told.
NOT_SAID: Final = "= \n"
# What is asked so often is by chance if it differs: maps have no order.
_TIMES: Final = 5
BY_CHANCE: Final = "by chance"
# The type of `self` has another name each time.
_OWN_TYPE: Final = re.compile(r"selfType[0-9]+")
PANIC: Final = "panic"


def causes(body: Any) -> list[tuple[str, str]]:
    return [(each.get("field", ""), each["message"]) for each in body.get("details", {}).get("causes", ())]


def refusals(api: Api, expressions: Sequence[str]) -> dict[int, str]:
    """What is wrong with those that are no rules, by their place."""
    try:
        return _refusals(api, expressions)
    except httpx2.TransportError:
        # Some few make the server panic.
        if len(expressions) == 1:
            return {0: PANIC}
        half = len(expressions) // 2
        later = {index + half: told for index, told in refusals(api, expressions[half:]).items()}
        return refusals(api, expressions[:half]) | later


def _refusals(api: Api, expressions: Sequence[str]) -> dict[int, str]:
    rules = [{"rule": each, "message": "m"} for each in expressions]
    body = definition("typed", {"spec": {**SPEC, "x-kubernetes-validations": rules}})
    answer = api.post(DEFINITIONS, body, dryRun="All")
    found: dict[int, str] = {}
    for field, message in causes(answer.body):
        if place := _RULE.search(field):
            # Around what is wrong stands the rule, as Go writes it.
            head, _, detail = message.partition('OptionalOldSelf":null}: ')
            found.setdefault(int(place[1]), _OWN_TYPE.sub("selfType", detail if detail else head))
    return found


def values_of(api: Api, stem: str, expressions: Sequence[str]) -> list[list[str]]:
    """For each, what it is on every sample, or why it has no value: `= value`, `! error`."""
    rules = [
        {
            "rule": f"'%s'.format([{each}]) == '\\u0001'",
            "message": f"m{index}",
            "messageExpression": f"'{index}:%s'.format([{each}])",
        }
        for index, each in enumerate(expressions)
    ]
    body = definition(stem, {"spec": {**SPEC, "x-kubernetes-validations": rules}})
    answer = api.post(DEFINITIONS, body)
    assert answer.code == 201, causes(answer.body) or answer.body
    told: list[list[str]] = [[] for _ in expressions]
    try:
        served(api, stem)
        for value in VALUES:
            found, *again = (_broken(api, stem, value) for _ in range(_TIMES))
            for index, texts in enumerate(told):
                same = all(other.get(index) == found.get(index) for other in again)
                texts.append(found.get(index, "") if same else BY_CHANCE)
    finally:
        api.delete(f"{DEFINITIONS}/{body['metadata']['name']}")
    if any("" in texts for texts in told):
        # One cost so much that no other was looked at.
        if len(told) == 1:
            return told
        half = len(told) // 2
        return values_of(api, f"{stem}a", expressions[:half]) + values_of(api, f"{stem}b", expressions[half:])
    return told


def served(api: Api, stem: str) -> None:
    for _ in range(200):
        if api.get(f"/apis/language.example.com/v1/{stem}s").code == 200:
            return
        time.sleep(0.1)
    raise TimeoutError(stem)


def _broken(api: Api, stem: str, value: Any) -> dict[int, str]:
    body = {
        "apiVersion": "language.example.com/v1",
        "kind": stem.capitalize(),
        "metadata": {"name": "x"},
        "spec": value,
    }
    found: dict[int, str] = {}
    for field, message in causes(api.post(f"/apis/language.example.com/v1/{stem}s", body, dryRun="All").body):
        if failed := _FAILED.fullmatch(message):
            found[int(failed[2])] = f"! {failed[1]}"
        elif told := _TOLD.fullmatch(message):
            found[int(told[1])] = f"= {told[2]}"
        elif unsaid := _UNSAID.fullmatch(message):
            found[int(unsaid[1])] = NOT_SAID
        elif "no further" not in message:
            print("not understood:", field, message)
    return found


def batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
