"""What is filled in for a job that its schema cannot fill in: `credentials` is short for entries of `envFrom`."""

from __future__ import annotations

from mooring.kube.objects import Object

__all__ = ["default_job"]


def default_job(obj: Object) -> Object:
    """Credentials follow what `envFrom` has, each once: applied again, a manifest gives the same job."""
    spec = obj.get("spec") or {}
    config = spec.get("podConfig") or {}
    names = config.get("credentials")
    if names is None:
        return obj
    given = list(config.get("envFrom") or ())
    there = {(each.get("secretRef") or {}).get("name") for each in given}
    added = [{"secretRef": {"name": name}} for name in dict.fromkeys(names) if name not in there]
    kept = {name: value for name, value in config.items() if name != "credentials"}
    made = {**kept, "envFrom": [*given, *added]} if given or added else kept
    return {**obj, "spec": {**spec, "podConfig": made}}
