"""Deletes what is in a namespace that is being deleted, pods first, and then lets the namespace go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from mooring.api.conditions import changed_conditions
from mooring.api.core.views import Namespace
from mooring.api.kinds import DynamicKinds, HasMeta, Key, Kind, key_of
from mooring.api.meta import Condition
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Patch, status
from mooring.runtime.view import View
from mooring.workloads.finalizers import without_finalizer
from mooring.workloads.kinds import NAMESPACE, POD

FINALIZER = "kubernetes"
MAX_WRITES_PER_PASS = 500

# Reason and message of each condition when there is nothing to complain about.
_FINE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


def namespace_controller(kinds: Iterable[Kind[Any]], defined: DynamicKinds | None = None) -> Controller:
    """Deletion of namespaces whose content is of these kinds and of those that are defined."""
    covered = tuple(kinds)

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        namespace = view.get(NAMESPACE, *key)
        if namespace is None or not namespace.metadata.deleting or FINALIZER not in namespace.spec.finalizers:
            return Decision()
        custom = () if defined is None else view.defined(defined)
        content = {kind: found for kind in (*covered, *custom) if (found := view.list(kind, "namespace", key.name))}
        if not content:
            # 2. Nothing is left: the namespace may go.
            left = without_finalizer(namespace.spec.finalizers, FINALIZER) or []
            return Decision(
                status=_status(namespace, content, now),
                release=(Patch(NAMESPACE, key, {"spec": {"finalizers": left}}, "finalize"),),
            )
        # 1. Pods go before what they use; the rest follows when they are gone.
        first = [POD] if POD in content else list(content)
        deletions = [Delete(kind, key_of(obj), "Background") for kind in first for obj in content[kind] if _stays(obj)]
        return Decision(children=tuple(deletions[:MAX_WRITES_PER_PASS]), status=_status(namespace, content, now))

    return Controller(
        "namespace",
        reconcile,
        of=NAMESPACE,
        reads=covered,
        writes={NAMESPACE: ("status", "finalize"), **dict.fromkeys(covered, ("delete",))},
        defined=defined,
        defined_writes=("delete",),
    )


def _stays(obj: HasMeta) -> bool:
    return not obj.metadata.deleting


def _status(namespace: Namespace, content: dict[Kind[Any], tuple[Any, ...]], now: datetime) -> tuple[Patch, ...]:
    """Conditions that say what the namespace still waits for, once it has to wait."""
    known = namespace.status.conditions
    if not content and not known:
        return ()
    wanted = {kind: ("False", *words) for kind, words in _FINE.items()}
    if content:
        remaining = sorted(f"{_resource(kind)} has {len(found)} resource instances" for kind, found in content.items())
        said = f"Some resources are remaining: {', '.join(remaining)}"
        wanted["NamespaceContentRemaining"] = ("True", "SomeResourcesRemain", said)
    finalizers = Counter(name for found in content.values() for obj in found for name in obj.metadata.finalizers)
    if finalizers:
        counts = sorted(f"{name} in {count} resource instances" for name, count in finalizers.items())
        said = f"Some content in the namespace has finalizers remaining: {', '.join(counts)}"
        wanted["NamespaceFinalizersRemaining"] = ("True", "SomeFinalizersRemain", said)
    written = changed_conditions(known, [Condition(kind, *said) for kind, said in wanted.items()], now)
    return () if written is None else (status(NAMESPACE, namespace, {"conditions": written}),)


def _resource(kind: Kind[Any]) -> str:
    """A kind as `plural.group`, by the rules that the names of all built-in kinds follow."""
    name = kind.kind.lower()
    plural = name[:-1] + "ies" if name.endswith("cy") else name + ("es" if name.endswith("s") else "s")
    return f"{plural}.{kind.api_version.rpartition('/')[0]}"
