"""What the tests of advice about a pod share."""

from __future__ import annotations

from mooring.kube.objects import Object
from mooring.placement.advise import Advice, AdviceKind
from mooring.testing import Scene, advised

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def of(kind: AdviceKind, scene: Scene, asked: Object) -> list[Advice]:
    """Single changes of one kind."""
    return [advice for advice in advised(scene, asked) if advice.kind is kind and not advice.parts]


def titles(kind: AdviceKind, scene: Scene, asked: Object) -> list[str]:
    return [advice.title for advice in of(kind, scene, asked)]


def requiring(*expressions: Object, fields: list[Object] | None = None) -> Object:
    """Required node affinity of one term."""
    term: Object = {"matchExpressions": list(expressions)}
    if fields:
        term["matchFields"] = fields
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}
