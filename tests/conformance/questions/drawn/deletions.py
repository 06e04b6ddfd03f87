"""Deletions with every option, one by one and of whole collections."""

from __future__ import annotations

import random
from typing import Any

from mooring.kube.objects import Object
from tests.conformance.questions.drawn.reads import NS, SELECTORS, objects, query
from tests.conformance.questions.stories import Step

OPTIONS: tuple[Any, ...] = (
    {},
    {"propagationPolicy": "Orphan"},
    {"propagationPolicy": "Background"},
    {"propagationPolicy": "Foreground"},
    {"orphanDependents": True},
    {"orphanDependents": False},
    {"propagationPolicy": "x"},
    {"gracePeriodSeconds": 0},
    {"gracePeriodSeconds": 7},
    {"gracePeriodSeconds": -1},
    {"gracePeriodSeconds": 1},
    {"dryRun": ["All"]},
    {"dryRun": ["x"]},
    {"dryRun": []},
    {"preconditions": {"uid": "x"}},
    {"preconditions": {"resourceVersion": "1"}},
    {"preconditions": {"uid": "${o1/metadata/uid}"}},
    {"preconditions": {"resourceVersion": "${o1/metadata/resourceVersion}"}},
    {"preconditions": {"uid": "${o1/metadata/uid}", "resourceVersion": "1"}},
    {"preconditions": {}},
    {"orphanDependents": True, "propagationPolicy": "Background"},
    {"kind": "DeleteOptions", "apiVersion": "v1"},
    {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"},
    {"kind": "Pod", "apiVersion": "v1"},
    {"kind": "DeleteOptions", "apiVersion": "apps/v1"},
    {"unknown": 1},
    {"gracePeriodSeconds": "x"},
    [],
    None,
    {"preconditions": {"uid": ""}},
    {"preconditions": {"resourceVersion": ""}},
    {"dryRun": ["All", "All"]},
    {"gracePeriodSeconds": 30, "preconditions": {"uid": "${o1/metadata/uid}"}},
    {"propagationPolicy": ""},
    {"ignoreStoreReadErrorWithClusterBreakingPotential": True},
    {"ignoreStoreReadErrorWithClusterBreakingPotential": False},
)
QUERIES = (
    "",
    "",
    "",
    "dryRun=All",
    "dryRun=x",
    "gracePeriodSeconds=0",
    "gracePeriodSeconds=3",
    "gracePeriodSeconds=x",
    "propagationPolicy=Foreground",
    "propagationPolicy=Orphan",
    "propagationPolicy=x",
    "orphanDependents=true",
    "pretty=true",
    "gracePeriodSeconds=-5",
    "preconditions.uid=x",
    "uid=x",
    "uid=${o1/metadata/uid}",
    "resourceVersion=5",
    "resourceVersion=${o1/metadata/resourceVersion}",
    "dryRun=All&dryRun=All",
    "orphanDependents=x",
)


def single(kind: str, number: int) -> list[Step]:
    """Objects are made anew whenever one may have gone."""
    draw = random.Random(f"deletions {kind} {number}")
    steps: list[Step] = []
    place = "/apis/batch/v1/namespaces/$NS" if kind == "jobs" else NS
    for _ in range(16):
        spec: Object = (
            {
                "spec": {
                    "containers": [{"name": "c", "image": "i"}],
                    **draw.choice(
                        ({}, {"nodeName": "node-1"}, {"nodeName": "node-1", "terminationGracePeriodSeconds": 3})
                    ),
                }
            }
            if kind == "pods"
            else {}
        )
        if kind == "replicationcontrollers":
            spec = {
                "spec": {
                    "selector": {"a": "b"},
                    "template": {
                        "metadata": {"labels": {"a": "b"}},
                        "spec": {"containers": [{"name": "c", "image": "i"}]},
                    },
                }
            }
        elif kind == "jobs":
            spec = {
                "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
            }
        metadata: Object = {"name": "x"}
        if draw.random() < 0.3:
            metadata["finalizers"] = draw.sample(("example.com/a", "orphan", "foregroundDeletion"), draw.choice((1, 2)))
        steps.append({"do": f"POST {place}/{kind}", "body": {"metadata": metadata, **spec}, "as": "o1"})
        for _ in range(draw.choice((1, 2, 2, 3))):
            options, asked = draw.choice(OPTIONS), draw.choice(QUERIES)
            step: Step = {"do": f"DELETE {place}/{kind}/x" + (f"?{asked}" if asked else "")}
            if options is not None:
                step["body"] = options
            steps.append(step)
        steps.append({"do": f"GET {place}/{kind}/x"})
        steps.append({"do": f"PATCH {place}/{kind}/x", "type": "merge", "body": {"metadata": {"finalizers": None}}})
        steps.append({"do": f"DELETE {place}/{kind}/x?gracePeriodSeconds=0"})
    return steps


def collections(kind: str, number: int) -> list[Step]:
    draw = random.Random(f"collections {kind} {number}")
    steps: list[Step] = []
    for _ in range(4):
        steps += objects(draw, kind, 6)
        steps[-1] = steps[-1] | {"quiet": True}
        for _ in range(3):
            parameters: dict[str, str | int] = {}
            if draw.random() < 0.7:
                parameters["labelSelector"] = draw.choice((*SELECTORS[:10], "x in"))
            if draw.random() < 0.4:
                parameters["fieldSelector"] = draw.choice(
                    ("metadata.name=c1", "metadata.name!=p1", "metadata.name!=c1", "x=y")
                )
            if draw.random() < 0.25:
                parameters["limit"] = draw.choice((1, 2))
            parameters |= draw.choice(
                (
                    {},
                    {},
                    {"dryRun": "All"},
                    {"propagationPolicy": "Foreground"},
                    {"gracePeriodSeconds": 0},
                    {"resourceVersion": "0"},
                    {"resourceVersion": "${o1/metadata/resourceVersion}", "resourceVersionMatch": "Exact"},
                    {"continue": "x"},
                    {"watch": "true"},
                )
            )
            step: Step = {"do": f"DELETE {NS}/{kind}{query(**parameters)}", "wait": 0.2}
            if draw.random() < 0.4:
                step["body"] = draw.choice(
                    (
                        {"propagationPolicy": "Orphan"},
                        {"dryRun": ["All"]},
                        {"preconditions": {"uid": "x"}},
                        {},
                        {"gracePeriodSeconds": 2},
                    )
                )
            steps.append(step)
            steps.append({"do": f"GET {NS}/{kind}"})
        steps.append({"do": f"DELETE {NS}/{kind}?gracePeriodSeconds=0", "quiet": True})
        # What was left with a finalizer by foreground deletion.
        for index in range(6):
            steps.append(
                {
                    "do": f"PATCH {NS}/{kind}/{'p' if kind == 'pods' else 'c'}{index}",
                    "type": "merge",
                    "body": {"metadata": {"finalizers": None}},
                    "quiet": True,
                }
            )
    return steps


def stories() -> dict[str, list[Step]]:
    kinds = ("configmaps", "pods")
    found = {f"single-{kind}-{number}": single(kind, number) for kind in kinds for number in range(4)}
    # These leave their dependents behind when nothing is said.
    found |= {f"single-{kind}": single(kind, 0) for kind in ("jobs", "replicationcontrollers")}
    return found | {f"collections-{kind}-{number}": collections(kind, number) for kind in kinds for number in range(3)}
