"""Stages drawn from a seed, each with an object that it may match."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from tests.support.recordings import Draw

NOW = "2026-01-01T12:00:00Z"

_KEYS = (
    ".metadata.deletionTimestamp",
    ".status.phase",
    ".status.podIP",
    '.metadata.labels["app"]',
    ".spec.hostNetwork",
    ".metadata.finalizers.[]",
    ".spec.priority",
    '.status.conditions.[] | select( .type == "Ready" ) | .status',
    ".metadata.annotations",
    ".metadata.ownerReferences.[].kind",
    ".spec.containers.[].name",
    ".spec.initContainers",
    ".status.containerStatuses.[0].ready",
    ".metadata.name",
    ".spec.nodeName",
)
_VALUES = (
    "Pending",
    "Running",
    "web",
    "True",
    "False",
    "true",
    "false",
    "7",
    "Job",
    "a",
    "kwok.x-k8s.io/fake",
    "10.0.0.9",
)
_SAID = (
    ".metadata.annotations.wait",
    '.metadata.annotations["at"]',
    ".metadata.deletionTimestamp",
    ".spec.priority",
    ".metadata.annotations.none",
    ".metadata.annotations.odd",
    ".metadata.annotations.hex",
    ".metadata.annotations.blank",
)
_STATUS = (
    "phase: Running\nstartTime: {{ Now | Quote }}",
    '{{ $now := Now }}\nconditions:\n- lastTransitionTime: {{ $now | Quote }}\n  status: "True"\n  type: Ready\n'
    '{{ range .spec.readinessGates }}\n- type: {{ .conditionType }}\n  status: "True"\n{{ end }}',
    "containerStatuses:\n{{ range .spec.containers }}\n- name: {{ .name | Quote }}\n  image: {{ .image | Quote }}\n"
    "  ready: true\n  restartCount: 0\n{{ end }}",
    "{{ with .status }}\nhostIP: {{ with .hostIP }}{{ . }}{{ else }}{{ NodeIP | Quote }}{{ end }}\n{{ end }}\n"
    'podIP: {{ PodIPWith "n1" false "u" "default" "p" | Quote }}',
    "{{ if .spec.initContainers }}\nphase: Pending\n{{ else if .metadata.deletionTimestamp }}\nphase: Succeeded\n"
    "{{ else }}\nphase: Running\nreason:\n{{ end }}",
    "conditions:\n- type: Ready\n  status: \"{{ if .spec.priority }}True{{ else }}False{{ end }}\"\n  reason: ''\n"
    '- {type: Initialized, status: "True"}\nmessage: {{ printf "%s of %s" .metadata.name NodeName | Quote }}',
    'phase: {{ .status.phase }}\nmessage:\nqosClass: {{ or .status.qosClass "BestEffort" }}',
    "[1, 2]",
    "phase: {{ index .spec.containers 9 }}",
    "phase: [",
    "just words",
    'phase: {{ lower "RUNNING" | Quote }}',
)
_META = ("labels: {x: z, app: ~}", "annotations:\n  seen: {{ Now | Quote }}\n  at:", "{}")
_OPERATIONS = (
    "- {op: add, path: /labels, value: {only: this}}",
    "- {op: remove, path: /labels/app}",
    "- {op: replace, path: /name, value: q}",
    '- {op: add, path: /annotations/seen, value: "1"}\n- {op: test, path: /name, value: p}',
    "- {op: remove, path: /nothing}",
    "[]",
)


def found(draw: Draw, kind: str) -> Object:
    """An object at some point of its life."""
    metadata: Object = {"name": "p", "namespace": "default", "uid": f"u-{draw.below(1000)}", "creationTimestamp": NOW}
    if draw.chance(0.5):
        metadata["labels"] = {"app": draw.one(("web", "db")), **({"a/b": "c"} if draw.chance(0.5) else {})}
    if draw.chance(0.6):
        said = {
            "wait": draw.one(("90s", "1m30s", "0s", "soon", "1h")),
            "at": draw.one((NOW, "2026-01-01T12:00:09Z", "2025-12-31T23:00:00Z")),
        }
        said |= {"odd": draw.one(("x", "-3", "1.5")), "hex": draw.one(("0x10", "12", "010")), "blank": ""}
        metadata["annotations"] = {name: said[name] for name in draw.some(tuple(said), 0.8)}
    if draw.chance(0.3):
        metadata |= {"deletionTimestamp": "2026-01-01T12:00:30Z", "deletionGracePeriodSeconds": 30}
    if draw.chance(0.4):
        metadata["finalizers"] = draw.some(("kwok.x-k8s.io/fake", "a", "b/c"), 0.7)
    if draw.chance(0.3):
        metadata["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": draw.one(("Job", "ReplicaSet")), "name": "j", "uid": "j"}
        ]
    conditions = [{"type": "Ready", "status": draw.one(("True", "False")), "reason": "R", "lastTransitionTime": NOW}]
    conditions += [{"type": "Other", "status": "Unknown"}] if draw.chance(0.4) else []
    status: Object = {"conditions": conditions} if draw.chance(0.7) else {}
    if kind == "Node":
        status |= {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]} if draw.chance(0.5) else {}
        return {"metadata": metadata, "spec": {"unschedulable": True} if draw.chance(0.3) else {}, "status": status}
    spec: Object = {"containers": [{"name": name, "image": f"{name}:1"} for name in draw.one((("a",), ("a", "b")))]}
    spec |= {"hostNetwork": True} if draw.chance(0.3) else {}
    spec |= {"priority": draw.one((7, 0, 90))} if draw.chance(0.5) else {}
    spec |= {"nodeName": "n1"} if draw.chance(0.7) else {}
    spec |= {"initContainers": [{"name": "i", "image": "i:1"}]} if draw.chance(0.3) else {}
    spec |= {"readinessGates": [{"conditionType": "Gate"}]} if draw.chance(0.3) else {}
    if draw.chance(0.8):
        status["phase"] = draw.one(("Pending", "Running", "Succeeded"))
    if draw.chance(0.4):
        status |= {"podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.9"}], "reason": "Why"}
    if draw.chance(0.3):
        status["containerStatuses"] = [
            {
                "name": "a",
                "image": "",
                "imageID": "",
                "ready": draw.chance(0.5),
                "restartCount": 1,
                "state": {},
                "lastState": {},
            }
        ]
    return {"metadata": metadata, "spec": spec, "status": status}


def stage(draw: Draw, name: str, kind: str, matching: bool = False) -> Object:
    selector: Object = {}
    if draw.chance(0.3) and not matching:
        selector["matchLabels"] = draw.one(({"app": "web"}, {"a/b": "c"}, {"app": "web", "a/b": "c"}, {}))
    if draw.chance(0.2) and not matching:
        selector["matchAnnotations"] = draw.one(({"wait": "90s"}, {"blank": ""}, {"none": ""}))
    if draw.chance(0.8) and not matching:
        selector["matchExpressions"] = [_expression(draw) for _ in range(1 + draw.below(2))]
    spec: Object = {"resourceRef": {"apiGroup": "v1", "kind": kind}, "selector": selector, "next": _next(draw)}
    if draw.chance(0.6):
        delay: Object = {"durationMilliseconds": draw.one((0, 1, 1500, 20000))} if draw.chance(0.8) else {}
        delay |= {"durationFrom": {"expressionFrom": draw.one(_SAID)}} if draw.chance(0.4) else {}
        delay |= {"jitterDurationMilliseconds": draw.one((500, 1500, 60000))} if draw.chance(0.4) else {}
        delay |= {"jitterDurationFrom": {"expressionFrom": draw.one(_SAID)}} if draw.chance(0.3) else {}
        spec["delay"] = delay
    spec |= {"weight": draw.one((0, 1, 5))} if draw.chance(0.6) else {}
    spec |= {"weightFrom": {"expressionFrom": draw.one(_SAID)}} if draw.chance(0.3) else {}
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": spec}


def _expression(draw: Draw) -> Object:
    operator = draw.one(("In", "NotIn", "Exists", "DoesNotExist"))
    values = {"values": draw.some(_VALUES, 0.3) or ["Pending"]} if operator in ("In", "NotIn") else {}
    return {"key": draw.one(_KEYS), "operator": operator, **values}


def _next(draw: Draw) -> Object:
    following: Object = {}
    if draw.chance(0.3):
        names = ("kwok.x-k8s.io/fake", "a", "b/c", "new/one")
        change: Object = {}
        change |= {"add": [{"value": each} for each in draw.some(names, 0.4)]} if draw.chance(0.6) else {}
        change |= {"remove": [{"value": each} for each in draw.some(names, 0.4)]} if draw.chance(0.6) else {}
        following["finalizers"] = change | ({"empty": True} if draw.chance(0.3) else {})
    following |= {"delete": True} if draw.chance(0.15) else {}
    following |= (
        {"event": {"type": draw.one(("Normal", "Warning")), "reason": "R", "message": "m"}} if draw.chance(0.3) else {}
    )
    if draw.chance(0.5):
        following["statusTemplate"] = draw.one(_STATUS)
        return following
    following["patches"] = [_patch(draw) for _ in range(draw.below(3))]
    return following


def _patch(draw: Draw) -> Object:
    form = draw.below(4)
    if form == 0:
        return {"root": "metadata", "type": "json", "template": draw.one(_OPERATIONS)}
    if form == 1:
        return {"root": "metadata", "type": draw.one(("merge", "strategic")), "template": draw.one(_META)}
    patch: Object = {"root": "status", "subresource": "status", "template": draw.one(_STATUS)}
    return patch | ({"type": draw.one(("merge", "strategic"))} if draw.chance(0.6) else {})


def stages(seed: str, count: int) -> list[Any]:
    """Questions about one Stage and an object."""
    draw = Draw(seed)
    asked = []
    for number in range(count):
        kind = "Node" if number % 5 == 0 else "Pod"
        asked.append(
            {"stage": stage(draw, f"s{number}", kind, draw.chance(0.6)), "object": found(draw, kind), "now": NOW}
        )
    return asked


def choices(seed: str, count: int) -> list[Any]:
    """Questions about several Stages that all match."""
    draw = Draw(seed)
    return [
        {"stages": [stage(draw, f"s{n}", "Pod", True) for n in range(1 + draw.below(4))], "object": found(draw, "Pod")}
        for _ in range(count)
    ]
