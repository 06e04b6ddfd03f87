"""What is done to a pod through a sub-resource of another kind: bindings and evictions. And what cannot be done.

Logs, streams and proxies need kubelets (`connectors`); a server that talks to none says so, and so does one that is
asked to debug a pod where nothing runs.
"""

from functools import partial
from typing import Any, Final

from mooring.apiserver.calls import Call, Context, not_found, not_served, wrong_method
from mooring.apiserver.handlers.token_requests import create_token
from mooring.apiserver.messages.bodies import decode_object
from mooring.apiserver.messages.options import DeleteOptions, delete_options_of, write_options
from mooring.apiserver.messages.responses import Response, json_response
from mooring.apiserver.webhooks.options import write_options_object
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError

__all__ = ["bind", "create_sub", "refuse_unserved"]


_UNSERVED: Final = frozenset(
    {
        ("nodes", "proxy"),
        ("pods", "attach"),
        ("pods", "exec"),
        ("pods", "log"),
        ("pods", "portforward"),
        ("pods", "proxy"),
        ("services", "proxy"),
    }
)
_CREATED: Final[Object] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def refuse_unserved(context: Context, call: Call) -> None:
    """Say of sub-resources that real servers have, and this one has not, that it is so."""
    resource, target = call.resource, call.target
    if resource.group or (resource.plural, target.subresource) not in _UNSERVED:
        return
    # Who asks about an object that is not there wants to hear that first.
    found = context.registry.get(resource, call.namespace, target.name)
    if resource.plural == "pods" and not found["spec"].get("nodeName"):
        raise BadRequestError(f"pod {target.name} does not have a host assigned")
    raise not_served(f"{resource.plural}/{target.subresource}")


async def create_sub(context: Context, call: Call) -> Response:
    """A POST below an object."""
    subresource = call.target.subresource
    if subresource not in call.resource.subresources:
        raise not_found()
    if subresource == "binding":
        return await bind(context, call)
    if subresource == "eviction":
        return await _evict(context, call)
    if subresource == "token":
        return await create_token(context, call)
    raise wrong_method()


async def bind(context: Context, call: Call) -> Response:
    """Assign a pod to a node. The name is in the URL, or in the binding for clients that post it to `bindings`."""
    options = write_options(call.request, "CreateOptions")
    binding = await _body(call, "Binding")
    metadata = _named(call, binding, "Binding")
    given = {"apiVersion": "v1", "kind": "Binding", **binding, "metadata": {**metadata, "namespace": call.namespace}}
    given = await context.webhooks.review(call, given, partial(write_options_object, call.request))
    pod = context.registry.bind(given, now=context.clock(), dry_run=options.dry_run, user=call.user)
    # kube-apiserver leaves the resourceVersion out; with it, a client need not read the pod to know its own write.
    metadata = {"resourceVersion": pod["metadata"]["resourceVersion"]}
    return json_response({**_CREATED, "metadata": metadata}, 201, call.warnings)


async def _evict(context: Context, call: Call) -> Response:
    options = write_options(call.request, "CreateOptions")
    eviction = await _body(call, "Eviction")
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        **eviction,
        "metadata": {**_named(call, eviction, "Eviction"), "namespace": call.namespace},
    }
    eviction = await context.webhooks.review(call, eviction, partial(write_options_object, call.request))
    given = eviction.get("deleteOptions")
    how = DeleteOptions() if given is None else delete_options_of(given)
    context.registry.evict(
        call.namespace,
        call.target.name,
        now=context.clock(),
        uid=how.uid,
        resource_version=how.resource_version,
        grace=how.grace,
        propagation=how.propagation,
        dry_run=options.dry_run or how.dry_run,
        user=call.user,
        groups=call.request.user.groups,
    )
    return json_response(_CREATED, 201, call.warnings)


async def _body(call: Call, kind: str) -> Object:
    body = await decode_object(call.request.header(b"content-type"), await call.request.body(), kind)
    call.request.holds(body)
    if not isinstance(body, dict) or body.get("kind") not in (None, "", kind):
        raise BadRequestError(f"the object provided is unrecognized (must be of type {kind})")
    return body


def _named(call: Call, body: Object, kind: str) -> Object:
    metadata: Any = body.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise BadRequestError(f"the metadata of a {kind} must be an object")
    name = call.target.name
    if not name:
        return metadata
    # A binding may leave it to its path.
    given = metadata.get("name") or (name if kind == "Binding" else "")
    if given != name:
        raise BadRequestError(f"name in URL does not match name in {kind} object")
    if metadata.get("namespace") not in (None, "", call.namespace):
        raise BadRequestError("the namespace of the provided object does not match the namespace sent on the request")
    return {**metadata, "name": name}
