"""The webhooks of a story: an HTTPS server in a thread that answers what the story says."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from mooring.kube.objects import Object
from tests.apiserver.webhooks.foreign import Foreign, foreign_webhook

PATHS = [f"/{letter}{index}" for letter in "mv" for index in range(4)]


class MayBeHooked(Protocol):
    @property
    def hooked(self) -> bool: ...


class Hooks:
    """`answers` are by path; `place` is where a configuration finds them."""

    def __init__(self, foreign: Foreign) -> None:
        self._foreign = foreign
        self.answers: dict[str, Object] = {}
        self.place = {"url": foreign.url, "ca": base64.b64encode(foreign.authority).decode()}
        for path in PATHS:
            foreign.on(path, partial(self._answer, path))

    def _answer(self, path: str, request: Object) -> Any:
        answer = self.answers.get(path, {"response": {"allowed": True}})
        if "text" in answer:
            return answer["status"], answer["text"].encode()
        if "review" in answer:
            review = dict(answer["review"])
            if answer.get("fill"):
                review["response"] = {"uid": request["uid"], "allowed": True}
            return answer.get("status", 200), json.dumps(review).encode()
        response = dict(answer["response"])
        if "patch" in response:
            response["patch"] = base64.b64encode(json.dumps(response["patch"]).encode()).decode()
        return response

    def taken(self) -> list[tuple[str, Object]]:
        """What they were asked since the last time. Those that only judge are asked at once, in no order."""
        calls = [(path, {**request, "uid": ""}) for path, request in self._foreign.calls]
        self._foreign.calls.clear()
        judged = sorted((call for call in calls if call[0].startswith("/v")), key=lambda call: call[0])
        return [*(call for call in calls if not call[0].startswith("/v")), *judged]


@contextmanager
def hooks_of(drawn: MayBeHooked, folder: Path) -> Iterator[Hooks | None]:
    if not drawn.hooked:
        yield None
        return
    with foreign_webhook(folder / "hooks") as foreign:
        yield Hooks(foreign)
