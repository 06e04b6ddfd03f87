"""What advice promises, on recorded and on random clusters.

Sound: whoever applies the edits to the objects and starts afresh finds the pod placed on the nodes that were named.
Complete: where a simple edit of some kind helps, advice of that kind is given. Harmless: the cluster is as it was.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.api.core.types import Pod
from mooring.kube.objects import Object
from mooring.placement.advise import Advice, AdviceKind, Asked, advise
from mooring.placement.advise.nodes.conditions import identifies
from mooring.placement.advise.pointers import edited
from mooring.placement.answers import explain_answer
from mooring.placement.engine import Engine, Explanation
from mooring.placement.plugins.interpod import clause_of
from mooring.placement.requests import build
from mooring.testing import node, pod, taint

DATA = Path(__file__).parents[2] / "data" / "oracle"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
HOSTNAME = "kubernetes.io/hostname"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


class Case:
    """A request of the recorded format, and what is said about its pod."""

    def __init__(self, request: Object) -> None:
        self.request = request
        self.cluster = build(request)
        self.engine = Engine(self.cluster)
        self.info = self.cluster.compiler.compile(msgspec.convert(request["pod"], Pod))

    def explain(self) -> Explanation:
        return self.engine.explain(self.info)

    def advise(self) -> list[Advice]:
        return advise(self.engine, Asked(self.explain(), self.request["pod"]), limit=1000).advice

    @property
    def lands(self) -> bool:
        return self.explain().chosen >= 0


def recorded(name: str, step: int, largest: int = 1000) -> Iterator[Object]:
    """Every n-th recorded request about a pod that has no place."""
    with gzip.open(DATA / f"{name}.jsonl.gz") as lines:
        for number, line in enumerate(lines):
            request = json.loads(line)["request"] if number % step == 0 else {}
            if request and len(request["nodes"]) <= largest and not Case(request).lands:
                yield request


def applied(request: Object, advice: Advice) -> Object:
    """The objects after the edits, by nothing but what the edits say."""
    changed = {**request, "nodes": list(request["nodes"]), "pods": list(request.get("pods") or [])}
    for edit in advice.edits:
        kind, _, name = edit.target.partition("/")
        if kind == "pod":
            changed["pod"] = edited(changed["pod"], (edit,))
        elif kind == "node":
            index = next(i for i, n in enumerate(changed["nodes"]) if n["metadata"]["name"] == name)
            changed["nodes"][index] = edited(changed["nodes"][index], (edit,))
        elif kind == "cluster":
            changed["nodes"].append(edit.after)
        else:
            changed["pods"] = [p for p in changed["pods"] if _key(p) != edit.before]
    return changed


def _key(one: Object) -> str:
    return f"{one['metadata'].get('namespace', '')}/{one['metadata']['name']}"


def check_sound(request: Object) -> None:
    case = Case(request)
    before = explain_answer(case.cluster, case.explain())
    found = case.advise()
    assert explain_answer(case.cluster, case.explain()) == before, "the cluster is not as it was"
    for advice in found:
        after = Case(applied(request, advice))
        explanation = after.explain()
        names = after.cluster.names
        if advice.kind is AdviceKind.PRIORITISE:
            preemption = explanation.preemption
            assert preemption is not None
            assert (names[preemption.slot],) == advice.nodes, advice.title
            assert {p.key for p in preemption.victims} == set(advice.victims), advice.title
        else:
            # A pod that is nominated to a feasible node looks at no other, though others would take it too.
            takers = {names[slot] for slot in np.flatnonzero(after.engine.fits(after.info)).tolist()}
            assert explanation.chosen >= 0, advice.title
            assert len(takers) == advice.node_count, advice.title
            assert set(advice.nodes) <= takers, advice.title


# Simple edits, found by trying everything


def simple_edits(request: Object) -> Iterator[tuple[AdviceKind, Object]]:
    yield from _tolerations(request)
    yield from _node_edits(request)
    yield from _pod_edits(request)
    yield from _removals(request)


def _copy(request: Object) -> tuple[Object, Object]:
    changed = deepcopy(request)
    return changed, changed["pod"]["spec"]


def _tolerations(request: Object) -> Iterator[tuple[AdviceKind, Object]]:
    taints = [t for n in request["nodes"] for t in n["spec"].get("taints") or []]
    for one in {json.dumps(t, sort_keys=True): t for t in taints}.values():
        # Conditions of nodes are not tolerated while anything else helps.
        if not one["key"].startswith("node.kubernetes.io/"):
            changed, spec = _copy(request)
            added = {"key": one["key"], "effect": one["effect"], "operator": "Exists"}
            spec["tolerations"] = [*(spec.get("tolerations") or []), added]
            yield AdviceKind.TOLERATE, changed


def _node_edits(request: Object) -> Iterator[tuple[AdviceKind, Object]]:
    wanted, shunned = _labels(request["pod"]["spec"])
    for i, one in enumerate(request["nodes"]):
        taints = one["spec"].get("taints") or []
        if one["spec"].get("unschedulable"):
            changed = deepcopy(request)
            del changed["nodes"][i]["spec"]["unschedulable"]
            changed["nodes"][i]["spec"]["taints"] = [t for t in taints if t["key"] != UNSCHEDULABLE]
            yield AdviceKind.UNCORDON, changed
        for j, there in enumerate(taints):
            if not there["key"].startswith("node.kubernetes.io/"):
                changed = deepcopy(request)
                del changed["nodes"][i]["spec"]["taints"][j]
                yield AdviceKind.UNTAINT, changed
        labels = one["metadata"].get("labels") or {}
        for key, value in wanted:
            fixed = identifies(key) and key in labels
            if not fixed and (key != HOSTNAME or value == one["metadata"]["name"]):
                changed = deepcopy(request)
                changed["nodes"][i]["metadata"]["labels"] = {**labels, key: value}
                yield AdviceKind.RELABEL if key in labels else AdviceKind.LABEL, changed
        for key in shunned & labels.keys():
            if not identifies(key):
                changed = deepcopy(request)
                del changed["nodes"][i]["metadata"]["labels"][key]
                yield AdviceKind.UNLABEL, changed


def _terms(spec: Object) -> list[Object]:
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED) or {}
    return required.get("nodeSelectorTerms") or []


def _labels(spec: Object) -> tuple[set[tuple[str, str]], set[str]]:
    wanted = set((spec.get("nodeSelector") or {}).items())
    shunned = set()
    for term in _terms(spec):
        for body in term.get("matchExpressions") or ():
            if body["operator"] == "In":
                wanted |= {(body["key"], value) for value in body["values"]}
            elif body["operator"] == "Exists":
                wanted.add((body["key"], "true"))
            elif body["operator"] in ("NotIn", "DoesNotExist"):
                shunned.add(body["key"])
    return wanted, shunned


def _pod_edits(request: Object) -> Iterator[tuple[AdviceKind, Object]]:
    spec = request["pod"]["spec"]
    for key in spec.get("nodeSelector") or {}:
        changed, copied = _copy(request)
        del copied["nodeSelector"][key]
        yield AdviceKind.DROP, changed
    for i, term in enumerate(_terms(spec)):
        for j in range(len(term.get("matchExpressions") or ())):
            changed, copied = _copy(request)
            del _terms(copied)[i]["matchExpressions"][j]
            yield AdviceKind.DROP, changed
    for field in ("podAffinity", "podAntiAffinity"):
        for i in range(len(((spec.get("affinity") or {}).get(field) or {}).get(REQUIRED) or ())):
            changed, copied = _copy(request)
            del copied["affinity"][field][REQUIRED][i]
            yield AdviceKind.RELAX, changed
    for i, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        if constraint["whenUnsatisfiable"] == "DoNotSchedule":
            changed, copied = _copy(request)
            copied["topologySpreadConstraints"][i]["maxSkew"] += 1
            yield AdviceKind.RELAX, changed
    for i, container in enumerate(spec["containers"]):
        for name in (container.get("resources") or {}).get("requests") or {}:
            changed, copied = _copy(request)
            copied["containers"][i]["resources"]["requests"][name] = "1m" if name == "cpu" else "1"
            yield AdviceKind.LOWER, changed


def _removals(request: Object) -> Iterator[tuple[AdviceKind, Object]]:
    case = Case(request)
    terms = case.info.template.affinity_required
    for i, one in enumerate(request.get("pods") or ()):
        there = case.cluster.pods[_key(one)]
        stays = there.owner is not None and there.owner.kind == "DaemonSet"
        # Nobody is told to delete the pods that the incoming one wants to be near.
        if (
            not stays
            and not there.finished
            and not (terms and all(clause_of(case.cluster, t).matches(there.namespace, there.labels) for t in terms))
        ):
            changed = deepcopy(request)
            del changed["pods"][i]
            yield AdviceKind.EVICT, changed


def check_complete(request: Object) -> None:
    case = Case(request)
    explanation = case.explain()
    if explanation.rejected is not None or explanation.error or explanation.chosen >= 0:
        return
    given = {advice.kind for advice in case.advise()}
    if AdviceKind.CORRECT in given:
        # A node is not labelled with a misspelling.
        given |= {AdviceKind.LABEL, AdviceKind.RELABEL}
    if AdviceKind.LABEL in given:
        # Nor is one labelled with another value where a node without it will do.
        given.add(AdviceKind.RELABEL)
    for kind, changed in simple_edits(request):
        if kind not in given and Case(changed).lands:
            pytest.fail(f"{kind.name} would help and is not advised in case {request.get('id')}")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step"), [("explain", 3), ("preemption", 5), ("nominated", 3), ("wide", 3)])
def test_advice_on_recorded_clusters_keeps_what_it_promises(name: str, step: int) -> None:
    for request in recorded(name, step):
        check_sound(request)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step"), [("explain", 12), ("preemption", 16), ("nominated", 8), ("wide", 12)])
def test_no_simple_edit_on_recorded_clusters_is_missed(name: str, step: int) -> None:
    for request in recorded(name, step, largest=12):
        check_complete(request)


def any_request(seed: int) -> Object:
    """A few nodes and pods out of a small vocabulary, so that constraints meet often."""
    rng = random.Random(seed)

    def some(words: list[Any], odds: float) -> list[Any]:
        return [word for word in words if rng.random() < odds]

    nodes = [
        node(
            f"n{i}",
            cpu=rng.choice(["2", "4"]),
            pods=rng.choice([3, 110]),
            zone=rng.choice(["east", "west", None]),
            labels=dict(some([("tier", rng.choice(["gold", "silver"])), ("disk", "ssd")], 0.5)),
            taints=some(["team=ml:NoSchedule", "team=ml:NoExecute", "old:NoSchedule"], 0.2),
            unschedulable=rng.random() < 0.15,
        )
        for i in range(rng.randint(1, 4))
    ]
    pods = [
        pod(
            f"p{i}",
            cpu=rng.choice(["500m", "1", "2"]),
            node=rng.choice(nodes)["metadata"]["name"],
            labels={"app": rng.choice(["web", "db"])},
            priority=rng.choice([0, 10, 100]),
            host_port=rng.choice([None, None, 80]),
            owner=rng.choice([None, "ReplicaSet/x", "DaemonSet/y"]),
        )
        for i in range(rng.randint(0, 6))
    ]
    more: Object = {}
    if rng.random() < 0.4:
        choices = [("tier", "gold"), ("tier", "gold"), ("tier", "glod"), ("disk", "ssd"), ("dsik", "ssd")]
        more["nodeSelector"] = dict([rng.choice(choices)])
    if rng.random() < 0.3:
        more["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": rng.choice(["topology.kubernetes.io/zone", HOSTNAME]),
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
                "nodeTaintsPolicy": rng.choice(["Honor", "Ignore"]),
            }
        ]
    if rng.random() < 0.3:
        term = {
            "labelSelector": {"matchLabels": {"app": rng.choice(["web", "db"])}},
            "topologyKey": rng.choice(["topology.kubernetes.io/zone", HOSTNAME]),
        }
        more["affinity"] = {rng.choice(["podAffinity", "podAntiAffinity"]): {REQUIRED: [term]}}
    incoming = pod(
        "incoming",
        cpu=rng.choice(["500m", "2", "4"]),
        labels={"app": "web"},
        host_port=rng.choice([None, None, 80]),
        **more,
    )
    incoming["spec"]["tolerations"] = [taint_tolerated(t) for t in some(["old:NoSchedule"], 0.5)]
    return {"id": seed, "nodes": nodes, "pods": pods, "pod": incoming}


def taint_tolerated(text: str) -> Object:
    return {"key": taint(text)["key"], "operator": "Exists"}


@given(st.integers(0, 2**32))
@settings(max_examples=60)
def test_advice_on_random_clusters_keeps_what_it_promises(seed: int) -> None:
    check_sound(any_request(seed))


@given(st.integers(0, 2**32))
@settings(max_examples=60)
def test_no_simple_edit_on_random_clusters_is_missed(seed: int) -> None:
    check_complete(any_request(seed))
