"""The verbs delete and deletecollection."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from mooring.apiserver.calls import Call, Context, success
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.handlers.get import list_options
from mooring.apiserver.messages.bodies import decode_object
from mooring.apiserver.messages.options import DeleteOptions, delete_options
from mooring.apiserver.messages.responses import Response, json_response, warning_headers
from mooring.apiserver.webhooks.options import delete_options_object
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError

__all__ = ["delete", "delete_collection"]


# Objects of a collection that are deleted between two chances for other requests: two or three milliseconds.
_SLICE_DELETIONS: Final = 100
_PODS_STAY: Final = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)
# Kinds whose deletion kube-apiserver answers with the object; for others it answers with a Status.
_SHOWN_WHEN_GONE: Final = frozenset(
    {
        "csidrivers.storage.k8s.io",
        "csinodes.storage.k8s.io",
        "deviceclasses.resource.k8s.io",
        "namespaces",
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "podtemplates",
        "resourceclaims.resource.k8s.io",
        "resourceclaimtemplates.resource.k8s.io",
        "resourcequotas",
        "resourceslices.resource.k8s.io",
        "serviceaccounts",
        "services",
        "storageclasses.storage.k8s.io",
        "volumeattachments.storage.k8s.io",
        "volumeattributesclasses.storage.k8s.io",
    }
)


async def delete(context: Context, call: Call) -> Response:
    options = await _options(call)
    _warn(context, call, options)
    resource, name = call.resource, call.target.name
    now = context.clock()
    if resource.store == "jobs.batch" and options.propagation is None:
        call.warnings.append(_PODS_STAY)

    def attempt() -> Object:
        return context.registry.delete(
            resource,
            call.namespace,
            name,
            now=now,
            uid=options.uid,
            resource_version=options.resource_version,
            propagation=options.propagation,
            grace=options.grace,
            dry_run=options.dry_run,
            user=call.user,
            groups=call.request.user.groups,
            warnings=call.warnings,
        )

    gone = await context.webhooks.write(call, attempt, partial(_options_object, options), "DELETE")
    waits = _waits(context, call, gone, options)
    if waits or resource.store in _SHOWN_WHEN_GONE:
        status = 202 if waits and options.cascades else 200
        return context.representations.one(call.request, call.representation, resource, gone, status, call.warnings)
    details = {"name": name, "group": resource.group, "kind": resource.plural, "uid": gone["metadata"]["uid"]}
    shown = {key: value for key, value in details.items() if value}
    return json_response(success(200, shown), 200, call.warnings)


def _waits(context: Context, call: Call, gone: Object, options: DeleteOptions) -> bool:
    """Whether the object still exists with a deletionTimestamp, waiting for finalizers or grace."""
    if options.dry_run:
        metadata = gone["metadata"]
        waits = metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
        return "deletionTimestamp" in metadata and bool(waits)
    return context.registry.has(call.resource, call.namespace, call.target.name, uid=gone["metadata"]["uid"])


async def delete_collection(context: Context, call: Call, group_commit: GroupCommit) -> Response:
    """Delete what is selected, one by one as the real server does: others read and write in between."""
    wanted = list_options(call)
    options = await _options(call)
    _warn(context, call, options)
    now, resource, request = context.clock(), call.resource, call.request
    chosen = await context.webhooks.read_slices(
        lambda: context.registry.list_slices(resource, call.target.namespace, **wanted), request.turn
    )

    def deletion(metadata: Object) -> Callable[[], Object]:
        return lambda: context.registry.delete(
            resource,
            metadata.get("namespace", ""),
            metadata["name"],
            now=now,
            uid=options.uid,
            resource_version=options.resource_version,
            propagation=options.propagation,
            grace=options.grace,
            dry_run=options.dry_run,
            user=call.user,
            groups=call.request.user.groups,
        )

    options_object = partial(_options_object, options)
    for number, obj in enumerate(chosen.items, start=1):
        # Another client may have deleted it meanwhile.
        with suppress(NotFoundError):
            # The real server does not name the object when a whole collection goes.
            await context.webhooks.write(call, deletion(obj["metadata"]), options_object, "DELETE", name="")
        if number % _SLICE_DELETIONS == 0:
            # Durable first: the commit of all of them at once would keep others waiting too.
            await group_commit.wait()
            await request.turn()
    # They are shown as they were found.
    response = context.representations.many(request, call.representation, resource, chosen)
    response.headers = warning_headers(call.warnings)
    return response


def _warn(context: Context, call: Call, options: DeleteOptions) -> None:
    if deprecation := context.registry.deprecation(call.resource):
        call.warnings.append(deprecation)
    if call.resource.store == "jobs.batch" and options.propagation is None:
        call.warnings.append(_PODS_STAY)


def _options_object(options: DeleteOptions, operation: str) -> Object:
    return delete_options_object(options)


async def _options(call: Call) -> DeleteOptions:
    body = await call.request.body()
    given = await decode_object(call.request.header(b"content-type"), body, "DeleteOptions") if body else None
    return delete_options(call.request, given)
