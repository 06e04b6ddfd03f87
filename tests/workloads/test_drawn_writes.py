"""What is written of taints, conditions and volumes, and which labels are called near, for drawn objects."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from random import Random
from typing import Any

import msgspec

from mooring.api.core.views import Node, PersistentVolumeClaim, Pod
from mooring.api.meta import Condition
from mooring.api.storage.views import PersistentVolume
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.workloads.claimed_volumes import claimed
from mooring.workloads.conditions import bound_at, disruption_mark, pod_conditions
from mooring.workloads.near_labels import nearest_of
from mooring.workloads.taints import swap_taints
from tests.support.golden import same_as_recorded

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
PREFIX = "node.kubernetes.io/"
KEYS = [
    *(f"{PREFIX}{name}" for name in ("not-ready", "unreachable", "unschedulable", "memory-pressure", "disk-pressure")),
    *(f"{PREFIX}{name}" for name in ("pid-pressure", "network-unavailable")),
    *("gpu", "own"),
]
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")


def test_taints_of_others_stay_in_their_order_and_ours_come_last_in_one() -> None:
    draw = Random(1)
    for _ in range(400):
        names = draw.sample([(key, effect) for key in KEYS for effect in EFFECTS], draw.randrange(6))
        old = [
            {"key": key, "effect": effect, **({"value": "v"} if draw.random() < 0.3 else {})} for key, effect in names
        ]
        for each in old:
            if draw.random() < 0.3:
                each["timeAdded"] = "2026-11-01T00:00:00Z"
        others = [(draw.choice(KEYS), draw.choice(EFFECTS)) for _ in range(4)]
        remove, add = {*names[: draw.randrange(3)], *others[:1]}, list(dict.fromkeys(others[2 : 2 + draw.randrange(3)]))
        node = msgspec.convert({"metadata": {"name": "n"}, "spec": {"taints": old} if old else {}}, Node)
        kept = [each for each in old if (each["key"], each["effect"]) not in remove]
        known = [(each["key"], each["effect"]) for each in kept]
        new = [
            {"key": key, "effect": effect, "timeAdded": timestamp(NOW)}
            for key, effect in add
            if (key, effect) not in known
        ]
        found = swap_taints(node, remove, add, NOW)
        if kept == old and not new:
            assert found is None
            continue
        every = [*kept, *new]
        foreign = [each for each in every if not each["key"].startswith(PREFIX)]
        ours = sorted(
            (each for each in every if each["key"].startswith(PREFIX)),
            key=lambda each: (KEYS.index(each["key"]), each["effect"]),
        )
        assert found is not None
        assert (found.key.name, found.body) == ("n", {"spec": {"taints": [*foreign, *ours] or None}}), (
            old,
            remove,
            add,
        )


def drawn_condition(draw: Random, kind: str) -> Object:
    made: Object = {"type": kind, "status": draw.choice(("True", "False", "Unknown"))}
    for field, values in {
        "reason": ("Why", "Other", ""),
        "message": ("text", "more", ""),
        "lastTransitionTime": ("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"),
        "observedGeneration": (1, 2),
    }.items():
        if draw.random() < 0.7:
            made[field] = draw.choice(values)
    return made


def drawn_pod(draw: Random) -> Object:
    kinds = draw.sample(("PodScheduled", "Ready", "DisruptionTarget"), draw.randrange(4))
    metadata: Object = {"name": "p", "namespace": "ml", "generation": draw.choice((1, 2))}
    if draw.random() < 0.8:
        metadata["creationTimestamp"] = "2026-10-01T00:00:00Z"
    return {"metadata": metadata, "status": {"conditions": [drawn_condition(draw, kind) for kind in kinds]}}


def test_conditions_of_pods_are_written_as_before() -> None:
    draw, said = Random(2), dict[str, str]()
    for number in range(250):
        obj = drawn_pod(draw)
        pod = msgspec.convert(obj, Pod)
        wanted = Condition(draw.choice(("Ready", "DisruptionTarget")), "True", draw.choice(("Why", "")), "text")
        status = draw.choice(({}, {"phase": "Failed"}))
        mark = disruption_mark(pod, NOW, draw.choice(("Why", "Other")), draw.choice(("text", "more")), **status)
        lines: list[Any] = [timestamp(bound_at(pod)), pod_conditions(pod, NOW, wanted), mark and mark[1:]]
        said[f"{number} {json.dumps(obj)} {wanted} {status}"] = "\n".join(map(str, lines))
    same_as_recorded("workloads-conditions", said)


def test_a_volume_is_given_to_a_claim_unless_it_has_it() -> None:
    draw, said = Random(3), dict[str, str]()
    for number in range(150):
        claim = {"metadata": {"name": draw.choice("ab"), "namespace": "ml", "uid": draw.choice(("u1", "u2"))}}
        reference = {
            field: value
            for field, value in {
                "name": "a",
                "namespace": draw.choice(("ml", "x")),
                "uid": draw.choice(("u1", "")),
            }.items()
            if draw.random() < 0.9
        }
        spec = draw.choice(({}, {"claimRef": reference}, {"claimRef": reference}))
        volume = msgspec.convert({"metadata": {"name": "v"}, "spec": spec}, PersistentVolume)
        found = claimed(volume, msgspec.convert(claim, PersistentVolumeClaim))
        said[f"{number} {json.dumps([claim, spec])}"] = (
            "" if found is None else f"{found.kind} {found.key} {found.body}"
        )
    same_as_recorded("workloads-claimed", said)


def test_the_nearest_labels_are_those_of_before() -> None:
    draw, said = Random(4), dict[str, str]()
    keys, values = ("pool", "pol", "zone", "gpu-model"), ("gpu-a", "gpu-b", "gpu", "cpu", "eu-1", "")
    for number in range(200):

        def labels(most: int) -> dict[str, str]:
            return {draw.choice(keys): draw.choice(values) for _ in range(draw.randrange(most))}

        wanted, named = labels(4), [(f"n{each}", labels(3)) for each in range(draw.randrange(7))]
        draw.shuffle(named)
        text = nearest_of(wanted, named)
        carried = {label for _, each in named for label in each.items()}
        assert not text or not set(wanted.items()) <= carried
        said[f"{number} {json.dumps([wanted, named])}"] = text
    same_as_recorded("workloads-labels", said)
