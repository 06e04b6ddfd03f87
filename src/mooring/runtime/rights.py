"""What a controller may do to the kinds that it writes: declared in the API's words, and checked at every decision.

    writes={POD: ("create", "delete", "status"), NODE: ("patch",)}

A word is a verb, or a sub-resource, on which the runtime has one verb only. Whoever sets `blockOwnerDeletion` needs the
owner's `finalizers`, and whoever changes the owner references of an object that is there must be allowed to delete it:
clusters with the admission plugin OwnerReferencesPermissionEnforcement ask for both. config/rbac is made from this, so
a right that is not declared is refused here, before any API server could.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from mooring.api.kinds import Kind
from mooring.client.rest_mapper import plural_of
from mooring.client.transport import Request
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, ForbiddenError
from mooring.runtime.decision import Apply, ApplyStatus, Bind, Create, Delete, Evict, Patch, Scale, Write

if TYPE_CHECKING:
    from mooring.runtime.controller import Controller
    from mooring.runtime.dispatcher.store import Store

Right = Literal[
    "create", "patch", "delete", "escalate", "status", "scale", "finalize", "finalizers", "binding", "eviction",
    "approval", "approve", "sign", "log", "impersonate",
]  # fmt: skip
Rights = Mapping[Kind[Any], tuple[Right, ...]]

# The verb on each sub-resource. `finalize` is not written in parts, so it is replaced.
SUBRESOURCE_VERBS: Final[Mapping[Right, str]] = {
    "status": "patch",
    "scale": "patch",
    "finalize": "update",
    "finalizers": "update",
    "binding": "create",
    "eviction": "create",
    "approval": "patch",
    "log": "get",
}


def check_rights(controller: Controller, write: Write, defined: Container[Kind[Any]], seen: Store[Any] | None) -> None:
    """Refuse a write that its controller does not declare. `seen` has the object as it is, if anybody follows it."""
    kind = write.kind
    declared = controller.writes.get(kind)
    if declared is None:
        if kind not in defined:
            raise MooringError(f"{controller.name} writes {kind}, which it does not declare")
        declared = controller.defined_writes
    for right in needed_rights(write):
        if right not in declared:
            raise MooringError(
                f"{controller.name} needs the right {right!r} on {kind} for {write.key} and does not declare it; "
                "add it to its writes"
            )
    for reference in _new_blocking(write, seen):
        owner = reference["apiVersion"], reference["kind"]
        if owner not in controller.blocks:
            raise MooringError(
                f"{controller.name} lets {kind} {write.key} hold up the deletion of {reference['kind']} "
                f"{reference['name']}; add the right 'finalizers' on {'/'.join(owner)} to its writes"
            )


_NEEDED: Final[Mapping[type[Write], tuple[Right, ...]]] = {
    Create: ("create",),
    Delete: ("delete",),
    ApplyStatus: ("status",),
    Bind: ("binding",),
    # It makes what is not there.
    Apply: ("create", "patch"),
    Evict: ("eviction",),
    Scale: ("scale",),
}


def needed_rights(write: Write) -> tuple[Right, ...]:
    """What a write needs on its own kind."""
    if not isinstance(write, Patch):
        needed = _NEEDED[write.__class__]
        # A role gets rules that its controller need not have itself.
        escalates = isinstance(write, Apply) and write.kind.kind in ("ClusterRole", "Role")
        return (*needed, "escalate") if escalates else needed
    if write.subresource:
        return (write.subresource,)  # type: ignore[return-value]  # an unknown one is declared by nobody
    return ("patch", "delete") if "ownerReferences" in (write.body.get("metadata") or ()) else ("patch",)


def blocking_references(write: Write) -> list[Object]:
    """The owners whose deletion an object holds up from this write on, or already does."""
    match write:
        case Create(object=body) | Apply(object=body) | Patch(body=body):
            return _blocking(body)
        case _:
            return []


def _new_blocking(write: Write, seen: Store[Any] | None) -> Iterator[Object]:
    """The owners whose deletion an object will hold up, and does not yet."""
    blocking = blocking_references(write)
    if not blocking:
        return
    current = None if seen is None or isinstance(write, Create) else seen.get(write.key)
    known = () if current is None else [reference.uid for reference in current.metadata.owner_references]
    yield from (reference for reference in blocking if reference["uid"] not in known)


def _blocking(body: Object) -> list[Object]:
    references: Iterable[Object] = (body.get("metadata") or {}).get("ownerReferences") or ()
    return [reference for reference in references if reference.get("blockOwnerDeletion")]


def missing_right(request: Request, error: ApiError) -> str:
    """What access rules did not allow, to go on after "may not"; empty where something else refused the write."""
    if not isinstance(error, ForbiddenError):
        return ""
    where = f" in namespace {request.namespace}" if request.namespace else ""
    resource = plural_of(request.kind)
    if "cannot set blockOwnerDeletion" in str(error):
        owners = {plural_of(reference["kind"]) for reference in _blocking(request.body)}
        return f"update {' or '.join(f'{owner}/finalizers' for owner in sorted(owners))}{where}"
    if "cannot set an ownerRef on a resource you can't delete" in str(error):
        return f"delete {resource}{where}"
    if not _is_by_access_rules(str(error)):
        return ""
    verb, subresource = _on_the_wire(request)
    return f"{verb} {resource}{subresource}{where}"


def _is_by_access_rules(message: str) -> bool:
    """Quotas, limits and webhooks forbid writes too; an authorizer's answer begins with who asked."""
    return ' is forbidden: User "' in message and '" cannot ' in message


def _on_the_wire(request: Request) -> tuple[str, str]:
    match request.verb:
        case "bind":
            return "create", "/binding"
        case "evict":
            return "create", "/eviction"
        case "apply" | "patch" if request.subresource == "finalize":
            return "update", "/finalize"
        case "apply":
            return "patch", f"/{request.subresource}" if request.subresource else ""
        case verb:
            return verb, f"/{request.subresource}" if request.subresource else ""
