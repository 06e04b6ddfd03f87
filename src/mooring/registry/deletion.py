"""Deleting objects: grace, finalizers, propagation.

An object goes at once unless something has to happen first. A pod on a node waits for its kubelet, which deletes it a
second time with grace 0; an object with finalizers waits for the last of them; a namespace waits for its content. Until
then it carries a deletionTimestamp and stays readable.
"""

from datetime import timedelta
from typing import Final, Literal

from mooring.kube.errors import not_supported
from mooring.kube.objects import Object
from mooring.kube.status import ConflictError, ForbiddenError, InvalidError
from mooring.kube.times import moment, timestamp
from mooring.registry.changes import is_finished
from mooring.registry.core import Core
from mooring.registry.kinds.definitions import DEFINITIONS, marked_for_cleaning
from mooring.registry.resources import Resource
from mooring.registry.write_options import Options

__all__ = ["Propagation", "check_preconditions", "delete"]

Propagation = Literal["Background", "Foreground", "Orphan"]

_PROPAGATIONS: Final = ("Foreground", "Background", "Orphan")
_FOREGROUND: Final = "foregroundDeletion"
_ORPHAN: Final = "orphan"
# kube-apiserver refuses to delete these: clients and controllers rely on them.
_IMMORTAL: Final = frozenset({"default", "kube-system", "kube-public"})


def delete(
    core: Core,
    resource: Resource,
    old: Object,
    options: Options,
    *,
    uid: str | None,
    resource_version: str | None,
    propagation: Propagation | None,
    grace: int | None,
) -> Object:
    """Delete a stored object, or begin to; returns it as it is, or was, afterwards."""
    metadata = old["metadata"]
    if propagation is not None and propagation not in _PROPAGATIONS:
        error = not_supported("propagationPolicy", propagation, (*_PROPAGATIONS, "nil"))
        raise InvalidError("DeleteOptions", "meta.k8s.io", "", [error])
    check_preconditions(resource, metadata, uid, resource_version)
    if resource.store == "namespaces":
        return _delete_namespace(core, resource, old, options)
    if grace is not None and grace < 0:
        grace = 1
    new_metadata = _graceful(resource, old, options, grace)
    if new_metadata is metadata:
        # Already on its way, and not asked to hurry.
        return old
    base = old
    if resource.store == DEFINITIONS and "deletionTimestamp" not in metadata:
        base = marked_for_cleaning(old, options.stamp)
    finalizers = base["metadata"].get("finalizers", [])
    strategy = core.strategy(resource)
    if propagation is None and strategy.orphans and _FOREGROUND not in finalizers:
        propagation = "Orphan"
    wanted = finalizers if strategy.unsupported_gc else _finalizers(finalizers, propagation)
    if new_metadata is None and not wanted:
        if resource.store == "pods":
            return _remove_marked(core, resource, {**old, "metadata": _marked(metadata, options)}, old, options)
        return old if options.dry_run else core.remove(resource, old)
    marked = dict(new_metadata) if new_metadata is not None else _marked(metadata, options)
    if wanted:
        marked["finalizers"] = wanted
    else:
        marked.pop("finalizers", None)
    if marked == metadata:
        return old
    new = {**base, "metadata": marked}
    if options.dry_run:
        return new
    if is_finished(new):
        return _remove_marked(core, resource, new, old, options)
    return core.commit(resource, new, old)


def _remove_marked(core: Core, resource: Resource, marked: Object, old: Object, options: Options) -> Object:
    """Remove an object that is marked first: controllers that look for the mark would miss one that is just gone."""
    if options.dry_run:
        return marked
    if marked["metadata"] != old["metadata"]:
        marked = core.commit(resource, marked, old)
    return core.remove(resource, marked)


def check_preconditions(resource: Resource, metadata: Object, uid: str | None, resource_version: str | None) -> None:
    # The API names the kind here where it names the resource everywhere else.
    if uid is not None and uid != metadata["uid"]:
        why = (
            f"the UID in the precondition ({uid}) does not match the UID in record ({metadata['uid']}). "
            "The object might have been deleted and then recreated"
        )
        raise ConflictError.of(resource.kind, resource.group, metadata["name"], why)
    if resource_version is not None and resource_version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({resource_version}) does not match the ResourceVersion "
            f"in record ({metadata['resourceVersion']}). The object might have been modified"
        )
        raise ConflictError.of(resource.kind, resource.group, metadata["name"], why)


def _graceful(resource: Resource, old: Object, options: Options, grace: int | None) -> Object | None:
    """The metadata of an object that goes gracefully; None if it does not; the same if that changes nothing."""
    metadata: Object = old["metadata"]
    if resource.store != "pods":
        return None
    left = metadata.get("deletionGracePeriodSeconds")
    if "deletionTimestamp" in metadata:
        if not left:
            return None
        if grace is None or grace >= left:
            return metadata
        return _hurried(metadata, options, left, grace)
    period = _pod_grace(old, grace)
    if period == 0:
        # A pod that goes at once is still marked first: with finalizers it stays, and must say since when.
        return None
    when = timestamp(options.now + timedelta(seconds=period))
    return _bumped(metadata) | {"deletionTimestamp": when, "deletionGracePeriodSeconds": period}


def _pod_grace(pod: Object, grace: int | None) -> int:
    spec = pod.get("spec", {})
    if grace is None:
        grace = spec.get("terminationGracePeriodSeconds", 30)
    if not spec.get("nodeName") or pod.get("status", {}).get("phase") in ("Failed", "Succeeded"):
        # No kubelet has it, or none has anything left to stop.
        return 0
    return 1 if grace is not None and grace < 0 else grace or 0


def _hurried(metadata: Object, options: Options, left: int, grace: int) -> Object:
    when = moment(metadata["deletionTimestamp"]) - timedelta(seconds=left) + timedelta(seconds=grace)
    if when < options.now:
        when, grace = options.now, 1 if grace else 0
    return metadata | {"deletionTimestamp": timestamp(when), "deletionGracePeriodSeconds": grace}


def _bumped(metadata: Object) -> Object:
    """Being deleted is a new intent."""
    if metadata.get("generation"):
        return metadata | {"generation": metadata["generation"] + 1}
    return dict(metadata)


def _marked(metadata: Object, options: Options) -> Object:
    """The metadata of an object that is deleted but waits for its finalizers."""
    marked = dict(metadata) if "deletionTimestamp" in metadata else _bumped(metadata)
    if "deletionTimestamp" not in marked or moment(marked["deletionTimestamp"]) > options.now:
        marked["deletionTimestamp"] = options.stamp
    marked["deletionGracePeriodSeconds"] = 0
    return marked


def _finalizers(finalizers: list[str], propagation: Propagation | None) -> list[str]:
    """The finalizers with those of garbage collection as the policy wants them; without one, as they are."""
    if propagation is None:
        return finalizers
    kept = [each for each in finalizers if each not in (_FOREGROUND, _ORPHAN)]
    if propagation == "Foreground":
        return [*kept, _FOREGROUND]
    return [*kept, _ORPHAN] if propagation == "Orphan" else kept


def _delete_namespace(core: Core, resource: Resource, old: Object, options: Options) -> Object:
    metadata = old["metadata"]
    name = metadata["name"]
    if name in _IMMORTAL:
        raise ForbiddenError.of(resource.plural, resource.group, name, "this namespace may not be deleted")
    if "deletionTimestamp" not in metadata:
        marked = {**metadata, "deletionTimestamp": options.stamp}
        new = {**old, "metadata": marked, "status": {**old.get("status", {}), "phase": "Terminating"}}
        if options.dry_run:
            return new
        if not new.get("spec", {}).get("finalizers") and not metadata.get("finalizers"):
            return core.remove(resource, old)
        return core.commit(resource, new, old)
    if old.get("spec", {}).get("finalizers") or metadata.get("finalizers"):
        return old
    return old if options.dry_run else core.remove(resource, old)
