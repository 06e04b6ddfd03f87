"""What a LeaderWorkerSet says where its author says nothing.

The schema fills in most; what depends on whole parts being absent is filled in here, on every write. An object comes
here before it is held against its schema, so a part of the wrong type is left for the schema to refuse.
"""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object

__all__ = ["default_leader_worker_set"]


def default_leader_worker_set(obj: Object) -> Object:
    """The object with its defaults; the parts that have them already are shared with the one given."""
    spec = obj.get("spec")
    if spec is None:
        spec = {}
    if not isinstance(spec, dict):
        return obj
    filled = {**spec}
    _fill(filled, "replicas", 1)
    _fill(filled, "startupPolicy", "LeaderCreated")
    parts = (("leaderWorkerTemplate", _template), ("rolloutStrategy", _strategy), ("networkConfig", _network))
    for name, fill in parts:
        part = filled.get(name)
        if part is None:
            part = {}
        if isinstance(part, dict):
            filled[name] = fill({**part})
    return {**obj, "spec": filled}


def _fill(part: Object, name: str, value: Any) -> None:
    if part.get(name) is None:
        part[name] = value


def _template(template: Object) -> Object:
    _fill(template, "size", 1)
    policy = template.get("restartPolicy") or "RecreateGroupOnPodRestart"
    # The old name for doing nothing.
    template["restartPolicy"] = "None" if policy == "Default" else policy
    return template


def _strategy(strategy: Object) -> Object:
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    rolling = strategy.get("rollingUpdateConfiguration")
    if rolling is None:
        rolling = {}
    if isinstance(rolling, dict):
        rolling = {**rolling}
        for name, value in (("maxUnavailable", 1), ("maxSurge", 0), ("partition", 0)):
            _fill(rolling, name, value)
        strategy["rollingUpdateConfiguration"] = rolling
    return strategy


def _network(network: Object) -> Object:
    network["subdomainPolicy"] = network.get("subdomainPolicy") or "Shared"
    return network
