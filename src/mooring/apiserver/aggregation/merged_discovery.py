"""Discovery with the groups of the servers behind: what they have stands beside what this server has."""

from collections.abc import Mapping
from typing import Any, Final

from mooring.apiserver.aggregation.api_services import GroupVersion
from mooring.apiserver.aggregation.availability import ServerCondition
from mooring.kube.objects import Object

__all__ = ["with_remote_group", "with_remote_groups", "with_remote_resources"]

_Remote = Mapping[GroupVersion, ServerCondition]
_SHOWN: Final = ("shortNames", "categories")


def with_remote_groups(document: Object, remote: _Remote) -> Object:
    """The answer to a plain `/apis`, with their groups."""
    groups = {each["name"]: each for each in document["groups"]}
    for of in remote:
        groups[of.group] = _grown(groups.get(of.group), of)
    return {**document, "groups": list(groups.values())}


def with_remote_group(document: Object | None, group: str, remote: _Remote) -> Object | None:
    """The answer to `/apis/GROUP`, with their versions; None where nobody has any."""
    own = document
    for of in remote:
        if of.group == group:
            own = {"kind": "APIGroup", "apiVersion": "v1", **_grown(own, of)}
    return own


def _grown(group: Object | None, of: GroupVersion) -> Object:
    shown = {"groupVersion": f"{of.group}/{of.version}", "version": of.version}
    if group is None:
        return {"name": of.group, "versions": [shown], "preferredVersion": shown}
    others = [each for each in group["versions"] if each["version"] != of.version]
    return {**group, "versions": [*others, shown]}


def with_remote_resources(document: Object, remote: _Remote) -> Object:
    """The aggregated answer to `/apis`, with their groups and resources."""
    items = {each["metadata"].get("name", ""): each for each in document["items"]}
    for of, verdict in remote.items():
        known = items.get(of.group, {"metadata": {"name": of.group}, "versions": []})
        others = [each for each in known["versions"] if each["version"] != of.version]
        items[of.group] = {**known, "versions": [*others, _version(of, verdict)]}
    return {**document, "items": list(items.values())}


def _version(of: GroupVersion, verdict: ServerCondition) -> Object:
    """Stale, where the server behind does not answer now: a client keeps what it knew."""
    mains: dict[str, Object] = {}
    for each in verdict.resources:
        name, _, subresource = each["name"].partition("/")
        if subresource:
            part = {"subresource": subresource, "responseKind": _kind(of, each), "verbs": each.get("verbs") or []}
            mains.get(name, {}).setdefault("subresources", []).append(part)
            continue
        mains[name] = {
            "resource": name,
            "responseKind": _kind(of, each),
            "scope": "Namespaced" if each.get("namespaced") else "Cluster",
            "singularResource": each.get("singularName") or "",
            "verbs": each.get("verbs") or [],
            **{field: each[field] for field in _SHOWN if each.get(field)},
        }
    fresh = "Current" if verdict.status == "True" else "Stale"
    made: dict[str, Any] = {"version": of.version, "freshness": fresh}
    return {**made, "resources": list(mains.values())} if mains else made


def _kind(of: GroupVersion, entry: Object) -> Object:
    return {
        "group": entry.get("group") or of.group,
        "version": entry.get("version") or of.version,
        "kind": entry["kind"],
    }
