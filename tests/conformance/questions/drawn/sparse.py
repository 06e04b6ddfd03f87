"""Objects of every kind with few of their fields, made and put in place of full ones: what is filled in or missed."""

from __future__ import annotations

import copy
import random
from typing import Any

from mooring.kube.objects import Object
from tests.conformance.drawn.stage import new_object, objects, place_of, standing_object
from tests.conformance.questions.stories import Step

# The name of one says who is meant; the other asks for addresses that are not everywhere, and has questions of its own.
_LEFT_OUT = ("apiservice", "service")


def thinned(draw: random.Random, value: Any, chance: float) -> Any:
    """With each field and item kept by chance, and now and then nothing where a value was."""
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if draw.random() < chance}
        return {key: None if draw.random() < 0.02 else thinned(draw, each, chance) for key, each in kept.items()}
    if isinstance(value, list):
        return [thinned(draw, each, chance) for each in value if draw.random() < max(chance, 0.6)]
    return value


def sparse(draw: random.Random, obj: Object) -> Object:
    chance = draw.choice((0.35, 0.6, 0.8, 0.92))
    made: Object = {key: thinned(draw, each, chance) for key, each in copy.deepcopy(obj).items()}
    for key in [
        key for key in made if key not in ("apiVersion", "kind", "metadata") and draw.random() > max(chance, 0.7)
    ]:
        del made[key]
    metadata = made["metadata"] or {}
    return made | {"metadata": {**metadata, "name": obj["metadata"]["name"]}}


def _placed(obj: Object) -> Object:
    """In the namespace of the story."""
    metadata = {
        key: each for key, each in obj["metadata"].items() if key not in ("namespace", "generateName", "finalizers")
    }
    return {**obj, "metadata": metadata}


def of(name: str) -> list[Step]:
    draw = random.Random(f"sparse {name}")
    obj, standing = _placed(new_object(name)), _placed({**standing_object(name)})
    standing.pop("status", None)
    place = place_of(obj, "$NS").path()
    steps: list[Step] = [
        {"do": f"POST {place}?dryRun=All", "body": sparse(draw, obj), "loosely": True} for _ in range(9)
    ]
    there = f"{place}/{standing['metadata']['name']}"
    steps.append({"do": f"POST {place}", "body": standing, "quiet": True})
    steps += [{"do": f"PUT {there}?dryRun=All", "body": sparse(draw, standing), "loosely": True} for _ in range(3)]
    steps.append({"do": f"DELETE {there}?gracePeriodSeconds=0&propagationPolicy=Background", "quiet": True})
    return steps


def annotated() -> list[Step]:
    """Pods whose annotations come and go that nodes read."""
    kept, mirror = "container.apparmor.security.beta.kubernetes.io/c", "kubernetes.io/config.mirror"
    pods = "/api/v1/namespaces/$NS/pods"
    spec: Object = {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}], "nodeName": "n"}
    steps: list[Step] = []
    for name, notes in (("none", {}), ("some", {kept: "localhost/a", mirror: "m", "other": "o"})):
        body = {"metadata": {"name": name, "annotations": notes}, "spec": spec}
        steps.append({"do": f"POST {pods}", "body": body, "loosely": True})
        for change in (
            *({kept: value} for value in ("unconfined", "localhost/a", "x", None)),
            *({mirror: value} for value in ("m", "n", None)),
            {kept: "runtime/default", mirror: "n"},
            {kept: None, mirror: None, "other": None},
            {f"{kept[:-1]}d": "unconfined"},
            {f"{mirror}s": "x"},
            {"other": "p"},
        ):
            do = f"PATCH {pods}/{name}?dryRun=All"
            steps.append({"do": do, "type": "merge", "body": {"metadata": {"annotations": change}}, "loosely": True})
    return steps


def stories() -> dict[str, list[Step]]:
    return {f"sparse-{name}": of(name) for name in objects() if name not in _LEFT_OUT} | {"annotated": annotated()}
