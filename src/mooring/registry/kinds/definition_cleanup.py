"""What a deleted CustomResourceDefinition leaves to do: its objects go, and then it does itself.

That may be many objects, so it is done in slices, and no request waits for it.
"""

from collections.abc import Generator
from datetime import datetime
from typing import Final

from mooring.kube.conditions import conditions_of, set_conditions
from mooring.kube.objects import Object
from mooring.registry.core import Core
from mooring.registry.deletion import delete
from mooring.registry.kinds.definitions import CLEANUP, DEFINITIONS, KIND, CustomResourceDefinitions
from mooring.registry.write_options import Options

__all__ = ["cleanup_slices", "unfinished"]

# Objects that are deleted between two chances for other requests: two or three milliseconds.
_SLICE_DELETIONS: Final = 100
_IN_PROGRESS: Final = {
    "type": "Terminating",
    "status": "True",
    "reason": "InstanceDeletionInProgress",
    "message": "CustomResource deletion is in progress",
}


def unfinished(core: Core) -> list[str]:
    """The definitions that are deleted and still there."""
    return [each["metadata"]["name"] for each in core.storage.items(DEFINITIONS) if _waits(each)]


def cleanup_slices(
    core: Core, definitions: CustomResourceDefinitions, name: str, now: datetime
) -> Generator[None, None, None]:
    """Delete the objects of a definition, as the real server does: without admission, and whatever versions are served.

    Those with finalizers stay for as long as these do, and the definition with them.
    """
    options = Options(now)
    kind = core.resources.of_kind(*KIND)
    found = core.find(kind, "", name)
    if found is None or not _waits(found):
        return
    known = conditions_of(found)
    conditions = set_conditions(known, (_IN_PROGRESS,), options.stamp)
    if conditions is not None:
        status = {**found["status"], "conditions": conditions}
        core.commit(kind, {**found, "metadata": dict(found["metadata"]), "status": status}, found)
    resource = definitions.stored.get(name)
    objects = [] if resource is None else core.storage.items(resource.store)
    for number, each in enumerate(objects, start=1):
        metadata = each["metadata"]
        if resource is not None:
            current = core.find(resource, metadata.get("namespace", ""), metadata["name"])
            if current is not None and "deletionTimestamp" not in current["metadata"]:
                delete(core, resource, current, options, uid=None, resource_version=None, propagation=None, grace=None)
        if number % _SLICE_DELETIONS == 0:
            yield
    definitions.finish(name)


def _waits(definition: Object) -> bool:
    metadata = definition["metadata"]
    return "deletionTimestamp" in metadata and CLEANUP in metadata.get("finalizers", ())
