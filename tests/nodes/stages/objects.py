"""Stages and the pods that they select, as plain objects."""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.kube.objects import Object
from mooring.nodes.stages.kinds import Stage
from mooring.nodes.stages.lifecycle import CompiledStage, compile_stage
from mooring.testing import pod

EVERYTHING: Object = {}


def stage(name: str = "s", *expressions: tuple[str, str, list[str]], kind: str = "Pod", **spec: Any) -> Object:
    """A Stage that selects by expressions, each a key with its operator and values."""
    wanted = [{"key": key, "operator": operator, "values": values} for key, operator, values in expressions]
    selector = {"matchExpressions": [{k: v for k, v in each.items() if v} for each in wanted]}
    body = {"resourceRef": {"apiGroup": "v1", "kind": kind}, "selector": selector, "next": {}, **spec}
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": body}


def setting(template: str, **more: Any) -> Object:
    return {"statusTemplate": template, **more}


def compiled(obj: Object) -> CompiledStage:
    return compile_stage(msgspec.convert(obj, Stage))


def one(uid: str = "u", phase: str = "Pending", **metadata: Any) -> Object:
    found = pod("p")
    found["metadata"] |= {"uid": uid, **metadata}
    found["status"] = {"phase": phase, "conditions": [{"type": "Ready", "status": "False"}]}
    return found


EXISTS = "Exists"


READINESS = '.status.conditions.[] | select( .type == "Ready" ) | .status'


PENDING = (".status.phase", "In", ["Pending"])
