"""The roles and bindings that a cluster has from the start, and their reconciliation at every start of a server.

As in kube-apiserver, what is missing in them is added and what is more is left; an object with the annotation
rbac.authorization.kubernetes.io/autoupdate: "false" is left alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from mooring.apiserver.authorization.policy_rules import PolicyRule, missing_rules, rules_of
from mooring.apiserver.authorization.rbac import RBAC_GROUP
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Registry

__all__ = ["BOOTSTRAPPING", "LINES", "bootstrap_objects", "bootstrap_rbac"]

LINES: Final = Path(__file__).parent / "data" / "bootstrap.txt"
BOOTSTRAPPING: Final = "kubernetes.io/bootstrapping"

_AUTOUPDATE: Final = "rbac.authorization.kubernetes.io/autoupdate"
_SERVER: Final = "kube-apiserver"

# What metrics-server brings: whoever may look at pods may look at what they use.
_METRICS_READER: Final[Object] = {
    "apiVersion": f"{RBAC_GROUP}/v1",
    "kind": "ClusterRole",
    "metadata": {
        "name": "system:aggregated-metrics-reader",
        "labels": {f"{RBAC_GROUP}/aggregate-to-{role}": "true" for role in ("admin", "edit", "view")},
        "annotations": {_AUTOUPDATE: "true"},
    },
    "rules": [{"verbs": ["get", "list", "watch"], "apiGroups": ["metrics.k8s.io"], "resources": ["pods", "nodes"]}],
}

_log = logging.getLogger(__name__)


def bootstrap_rbac(registry: Registry, *, now: datetime) -> None:
    """Create the roles and bindings that are not there, and add to the others what they lack."""
    for wanted in (*bootstrap_objects(), _METRICS_READER):
        try:
            _reconcile(registry, wanted, now)
        except ApiError as error:
            # A server without one of its roles is better than none: its administrator can still put it right.
            _log.warning("%s %s is not as it should be: %s", wanted["kind"], wanted["metadata"]["name"], error)


def _reconcile(registry: Registry, wanted: Object, now: datetime) -> None:
    resource, metadata = registry.resource(wanted["apiVersion"], wanted["kind"]), wanted["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    found = registry.find(wanted["apiVersion"], wanted["kind"], namespace, name)
    if found is None:
        registry.create(resource, wanted, now=now, manager=_SERVER)
        return
    completed = _completed(found, wanted)
    if completed is found:
        return
    if found.get("roleRef") != completed.get("roleRef"):
        registry.delete(resource, namespace, name, now=now)
        registry.create(resource, wanted, now=now, manager=_SERVER)
    else:
        registry.update(resource, completed, now=now, manager=_SERVER)


def _completed(found: Object, wanted: Object) -> Object:
    """The stored object with what it lacks; itself when it lacks nothing or must be left alone."""
    metadata = found["metadata"]
    if metadata.get("annotations", {}).get(_AUTOUPDATE) == "false":
        return found
    changes: Object = {}
    if "roleRef" in wanted:
        subjects = found.get("subjects") or []
        added = [each for each in wanted.get("subjects", ()) if each not in subjects]
        if added:
            changes["subjects"] = [*subjects, *added]
        if found["roleRef"] != wanted["roleRef"]:
            changes["roleRef"] = wanted["roleRef"]
    elif found.get("rules") != wanted["rules"]:
        missing = missing_rules(rules_of(found), rules_of(wanted))
        if missing:
            changes["rules"] = [*(found.get("rules") or ()), *map(_rule_object, missing)]
    aggregation = wanted.get("aggregationRule", {}).get("clusterRoleSelectors", ())
    selectors = found.get("aggregationRule", {}).get("clusterRoleSelectors", [])
    if any(each not in selectors for each in aggregation):
        added = [each for each in aggregation if each not in selectors]
        changes["aggregationRule"] = {"clusterRoleSelectors": [*selectors, *added]}
    for field in ("labels", "annotations"):
        merged = {**wanted["metadata"][field], **metadata.get(field, {})}
        if merged != metadata.get(field):
            metadata = {**metadata, field: merged}
            changes["metadata"] = metadata
    return {**found, **changes} if changes else found


def _rule_object(rule: PolicyRule) -> Object:
    fields = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    return {field: list(values) for field, values in zip(fields, rule, strict=True) if values}


def bootstrap_objects() -> Iterator[Object]:
    """The objects of the data file, as clients would create them."""
    current: Object = {}
    for line in LINES.read_text(encoding="utf-8").splitlines():
        word, *values = line.split()
        if line.startswith("#"):
            continue
        if line.startswith(" "):
            _add(current, word, *values)
            continue
        if current:
            yield current
        current = _object(word, values[0])
    yield current


def _object(kind: str, path: str) -> Object:
    namespace, _, name = path.rpartition("/")
    metadata: Object = {
        "name": name,
        "labels": {BOOTSTRAPPING: "rbac-defaults"},
        "annotations": {_AUTOUPDATE: "true"},
    }
    if namespace:
        metadata["namespace"] = namespace
    made: Object = {"apiVersion": f"{RBAC_GROUP}/v1", "kind": kind, "metadata": metadata}
    return made if kind.endswith("Binding") else {**made, "rules": None}


def _add(obj: Object, word: str, first: str, second: str = "", third: str = "", fourth: str = "") -> None:
    """Add to an object what an indented line says."""
    if word == "label":
        obj["metadata"]["labels"][first] = "true"
    elif word == "aggregate":
        selectors: list[Any] = obj.setdefault("aggregationRule", {"clusterRoleSelectors": []})["clusterRoleSelectors"]
        selectors.append({"matchLabels": {first: "true"}})
    elif word == "to":
        obj["roleRef"] = {"apiGroup": RBAC_GROUP, "kind": first, "name": second}
    elif word == "of":
        obj.setdefault("subjects", []).append(_subject(first, second))
    else:
        rule: Object = {"verbs": first.split(",")}
        if word == "urls":
            rule["nonResourceURLs"] = second.split(",")
        else:
            rule["apiGroups"] = ["" if group == "core" else group for group in second.split(",")]
            rule["resources"] = third.split(",")
            if fourth:
                rule["resourceNames"] = fourth.split(",")
        obj["rules"] = [*(obj["rules"] or ()), rule]


def _subject(kind: str, path: str) -> Object:
    if kind != "ServiceAccount":
        return {"kind": kind, "apiGroup": RBAC_GROUP, "name": path}
    namespace, _, name = path.partition("/")
    return {"kind": kind, "name": name, "namespace": namespace}
