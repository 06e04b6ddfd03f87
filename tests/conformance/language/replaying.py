"""Holds the registry to recorded answers, but for those that are known to differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mooring.kube.status import ApiError
from mooring.registry import Registry
from tests.conformance.language.definitions import complaints
from tests.conformance.language.recordings import read
from tests.registry.agreement import NOW, differences, perform


def hold(found: Iterable[tuple[str, list[str]]], differing: Path) -> None:
    """Every answer is as recorded, and what is listed as different is."""
    known = set(differing.read_text(encoding="utf-8").splitlines())
    wrong = {case: lines for case, lines in found if lines}
    news = [
        f"{case}\n  " + "\n  ".join(line[:700] for line in lines) for case, lines in wrong.items() if case not in known
    ]
    assert not news, "\n".join([f"{len(news)} answers differ", *news[:20]])
    assert known <= wrong.keys(), f"these are alike now, and need no line: {sorted(known - wrong.keys())}"


def replayed(name: str) -> Iterator[tuple[str, list[str]]]:
    """Each recorded request, with where its answer is another one here."""
    registry = Registry(now=NOW, seed=1)
    registry.bootstrap(now=NOW, host="10.1.2.3", port=6443)
    for number, record in enumerate(read(name), 1):
        below = f"/{record['sub']}" if "sub" in record else ""
        case = f"{number} {record['op']} {record['kind'][1]}{below}"
        yield case, differences(record, *perform(registry, record))


def refused() -> Iterator[tuple[str, list[str]]]:
    """Each recorded definition, with the complaints that only one of the two has."""
    registry = Registry(now=NOW, seed=1)
    kind = registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    for number, (body, code, wanted) in enumerate(read("definitions"), 1):
        found: Any = []
        told = 201
        try:
            registry.create(kind, body, now=NOW, dry_run=True)
        except ApiError as error:
            told, found = error.code, complaints(error.code, error.status())
        lines = [] if told == code else [f"code: {code} there, {told} here"]
        if isinstance(wanted, str) or isinstance(found, str):
            lines += [] if wanted == found else [f"there {wanted}", f"here  {found}"]
        elif wanted != found:
            lines += [f"there {each}" for each in wanted if each not in found]
            lines += [f"here  {each}" for each in found if each not in wanted]
            lines = lines or ["not as often"]
        yield f"{number} {body['metadata']['name']}", lines
