"""Advice for drawn pods without a place: all of it lets the pod land where it says, and no part of it can be left out.

The edits are applied to plain objects by nothing but what they say, and a fresh cluster is made of these.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
import pytest

from mooring.api.core.types import Pod
from mooring.kube.objects import Object
from mooring.placement.advise import Advice, AdviceKind, Asked, advise
from mooring.placement.advise.model import Edit
from mooring.placement.advise.pointers import edited, resolve
from mooring.placement.answers import explain_answer
from mooring.placement.devices.generated_claims import with_generated_claims
from mooring.placement.engine import Engine
from mooring.placement.requests import build
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.mistakes import MISTAKES
from tests.placement.drawn.pods import PRIORITIES
from tests.placement.drawn.world import draw_world

# Worlds of few nodes, of which a search looks at everything.
SEEDS = [seed for seed in range(40_000, 40_060) if len(draw_world(seed).nodes) < 5]
CHUNKS = 6


class Drawn:
    """A cluster and one pod."""

    def __init__(self, request: Object) -> None:
        self.request = request
        self.cluster = build(request)
        self.engine = Engine(self.cluster)
        self.pod = with_generated_claims(self.cluster.devices, request["pod"])
        self.info = self.cluster.compiler.compile(msgspec.convert(self.pod, Pod))

    def advise(self) -> list[Advice]:
        asked = Asked(self.engine.explain(self.info), self.pod, priority_classes=PRIORITIES)
        return advise(self.engine, asked, limit=40).advice

    @property
    def takers(self) -> set[str]:
        return {self.cluster.names[slot] for slot in np.flatnonzero(self.engine.fits(self.info)).tolist()}

    @property
    def lands(self) -> bool:
        found = self.engine.explain(self.info)
        return found.chosen >= 0 or (found.preemption is not None and found.preemption.slot >= 0)


def requests(seed: int) -> list[Object]:
    world, dice = draw_world(seed, waiting=(2, 3)), Dice(seed + 1)
    for pod in world.waiting:
        if dice.chance(0.6):
            dice.pick(MISTAKES)(dice, pod, world.nodes)
    there = {"nodes": world.nodes, "pods": world.residents, "objects": world.objects}
    return [{**there, "pod": pod} for pod in world.waiting]


class Unlike(Exception):
    """An edit is of something that is not as it was: another edit came before it, and is left out now."""


def applied(request: Object, edits: Iterable[Edit]) -> Object:
    changed: Object = {key: list(value) if isinstance(value, list) else value for key, value in request.items()}
    for edit in edits:
        kind, _, name = edit.target.partition("/")
        match kind:
            case "pod":
                changed["pod"] = _edited(changed["pod"], edit)
            case "node":
                _replace(changed["nodes"], "Node", name, edit)
            case "cluster":
                changed["nodes"].append(edit.after)
            case "devices":
                made = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", **edit.after}
                changed["objects"].append(made)
            case "resourceclaim":
                _replace(changed["objects"], "ResourceClaim", name, edit)
            case "resourceclaimtemplate":
                _replace(changed["objects"], "ResourceClaimTemplate", name, edit)
            case "pods":
                changed["pods"] = [pod for pod in changed["pods"] if _key(pod) != edit.before]
    return changed


def _replace(objects: list[Object], kind: str, key: str, edit: Edit) -> None:
    (place,) = (i for i, each in enumerate(objects) if each["kind"] == kind and _key(each) == key)
    objects[place] = _edited(objects[place], edit)


def _edited(value: Object, edit: Edit) -> Object:
    there = resolve(value, edit.path)
    # Of some objects no more is read than matters to placement: then less was there before than is there now.
    if not isinstance(edit.before, dict | list) and not edit.path.endswith("/-") and there != edit.before:
        raise Unlike
    return edited(value, (edit,))


def _key(value: Object) -> str:
    metadata = value["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else str(metadata["name"])


def check(request: Object) -> int:
    """How many pieces of advice there are, after all of them have been checked."""
    case = Drawn(request)
    explanation = case.engine.explain(case.info)
    if explanation.chosen >= 0 or case.info.gates:
        return 0
    before = explain_answer(case.cluster, explanation)
    found = case.advise()
    assert explain_answer(case.cluster, case.engine.explain(case.info)) == before, "the cluster is not as it was"
    for advice in found:
        after = Drawn(applied(request, advice.edits))
        if any(part.kind is AdviceKind.PRIORITISE for part in advice.parts or (advice,)):
            preemption = after.engine.explain(after.info).preemption
            assert preemption is not None, advice.title
            assert {pod.key for pod in preemption.victims} == set(advice.victims), advice.title
            assert (after.cluster.names[preemption.slot],) == advice.nodes, advice.title
            continue
        takers = after.takers
        assert len(takers) == advice.node_count, f"{advice.title}: {sorted(takers)}"
        assert set(advice.nodes) <= takers, advice.title
        for alternative in advice.alternatives:
            other = [msgspec.structs.replace(edit, target=f"node/{alternative}") for edit in advice.edits]
            if len(other) == 1 and not isinstance(other[0].before, dict) and other[0].op != "label":
                assert alternative in Drawn(applied(request, other)).takers, f"{advice.title}: {alternative}"
        _check_parts(request, advice)
    return len(found)


def _check_parts(request: Object, advice: Advice) -> None:
    for left_out in advice.parts:
        edits = [edit for part in advice.parts if part is not left_out for edit in part.edits]
        try:
            less = Drawn(applied(request, edits))
        except Unlike:
            continue
        assert not less.takers, f"{advice.title}: {left_out.title} can be left out"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_advice_for_drawn_pods_is_sound_and_has_no_part_too_many(chunk: int) -> None:
    checked = 0
    for seed in SEEDS[chunk::CHUNKS]:
        for number, request in enumerate(requests(seed)):
            try:
                checked += check(request)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, pod {number}: {error}") from error
    assert checked
