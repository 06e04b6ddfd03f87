"""The verbs get and list."""

from mooring.apiserver.calls import Call, Context, not_found, wrong_method
from mooring.apiserver.messages.responses import Response
from mooring.kube.status import TooLargeVersionError
from mooring.registry.lists import ListOptions, parse_revision

__all__ = ["get", "list_", "list_options"]

# Sub-resources that can be written to but not read.
_WRITE_ONLY = frozenset({"binding", "eviction", "finalize", "token"})


def get(context: Context, call: Call) -> Response:
    """One object, or one of its sub-resources."""
    resource, target = call.resource, call.target
    if target.subresource:
        if target.subresource not in resource.subresources:
            raise not_found()
        if target.subresource in _WRITE_ONLY:
            raise wrong_method()
    wanted, now = parse_revision(call.request.text("resourceVersion")), context.registry.revision
    if wanted > now:
        raise TooLargeVersionError.of(wanted, now)
    found = context.registry.get(resource, call.namespace, target.name, subresource=target.subresource)
    response = context.representations.one(call.request, call.representation, resource, found)
    response.revision = int(found["metadata"]["resourceVersion"])
    return response


async def list_(context: Context, call: Call) -> Response:
    """The objects of a kind, of all namespaces or of one, or a page of them."""
    request, options = call.request, list_options(call)
    found = await context.webhooks.read_slices(
        lambda: context.registry.list_slices(call.resource, call.target.namespace, **options), request.turn
    )
    return context.representations.many(request, call.representation, call.resource, found)


def list_options(call: Call) -> ListOptions:
    """What the query says of a list."""
    request = call.request
    options: ListOptions = {}
    if request.query:
        # Only a watch heeds it, and it must be a number all the same.
        request.number("timeoutSeconds")
        options = {
            "label_selector": request.text("labelSelector"),
            "field_selector": call.field_selector,
            "limit": request.number("limit"),
            "continue_": request.text("continue"),
            "resource_version": request.text("resourceVersion"),
            "resource_version_match": request.text("resourceVersionMatch"),
            "send_initial_events": request.flag("sendInitialEvents"),
        }
    return options
