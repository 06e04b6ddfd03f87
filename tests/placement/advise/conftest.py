"""Everything that is advised in a story is held to what was recorded of it, also where the test asserts something else.

`MOORING_UPDATE_GOLDEN=1 pytest -n 0 tests/placement/advise` records it anew; look at what failed before keeping it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec
import pytest

from mooring.placement.advise import Advice, Advised, advise, weigh
from mooring.testing import verbs
from tests.support.golden import RECORDED, difference, record, recorded

RECORDING = "advice"
# These look at hundreds of clusters, and try every edit there is: they know what is right without a recording.
BRUTE_FORCE = ("test_promises.py::", "::test_no_smaller_set_")
_UPDATED: dict[str, str] = {}
_recorded = cache(recorded)


@pytest.fixture(autouse=True)
def advised_as_recorded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    story = f"{request.node.path.name}::{request.node.name}"
    if any(part in story for part in BRUTE_FORCE) or hasattr(request.function, "hypothesis"):
        yield
        return
    told: list[str] = []
    for name, real in (("advise", advise), ("weigh", weigh)):
        for module in [
            verbs,
            *(each for key, each in sys.modules.items() if key.startswith("tests.placement.advise.")),
        ]:
            if getattr(module, name, None) is real:
                monkeypatch.setattr(module, name, _telling(real, told))
    yield
    monkeypatch.undo()
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        _UPDATED[story] = "\n".join(told)
        return
    before = _recorded(RECORDING).get(story)
    # A story that is new is recorded with the next update.
    assert before is None or not (unlike := difference(before, "\n".join(told))), unlike


def pytest_sessionfinish() -> None:
    if _UPDATED:
        before = recorded(RECORDING) if (RECORDED / f"{RECORDING}.xz").exists() else {}
        found = {**before, **_UPDATED}
        record(RECORDING, {story: found[story] for story in sorted(found) if found[story]})


def _telling(real: Callable[..., Any], told: list[str]) -> Callable[..., Any]:
    def asked(*arguments: Any, **more: Any) -> Any:
        answer = real(*arguments, **more)
        if isinstance(answer, Advised):
            told.append(f"complete: {answer.is_complete}")
        for each in answer.advice if isinstance(answer, Advised) else answer:
            told.extend(_lines(each))
        return answer

    return asked


def _lines(advice: Advice) -> Iterator[str]:
    yield f"{advice.kind.name} {advice.title}"
    for edit in advice.edits:
        yield f"  {edit.target} {edit.op} {edit.path}: {_text(edit.before)} -> {_text(edit.after)}"
    for command in advice.commands:
        yield f"  $ {command.text}"
        yield from (f"    {_text(write)}" for write in command.writes)
    yield f"  on {advice.nodes} of {advice.node_count}, else {advice.alternatives} of {advice.alternative_count}"
    brings = None if advice.brings is None else sorted(advice.brings)
    pool = None if advice.pool is None else advice.pool.name
    yield f"  victims {advice.victims}, last {advice.last_resort}, brings {brings}, pool {pool}"
    for name, several in (("wider", advice.wider), ("part", advice.parts)):
        for each in several:
            yield f"  {name}:"
            yield from (f"    {line}" for line in _lines(each))


def _text(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), sort_keys=True)
