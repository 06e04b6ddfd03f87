"""The verbs create, update and patch."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from mooring.apiserver.calls import Call, Context, not_found, wrong_method
from mooring.apiserver.messages.bodies import BodyDocument, decode_patch, read_document, read_yaml
from mooring.apiserver.messages.duplicate_fields import find_duplicate_fields
from mooring.apiserver.messages.options import WriteOptions, write_options
from mooring.apiserver.messages.responses import Response
from mooring.apiserver.webhooks.options import write_options_object
from mooring.kube.objects import Object
from mooring.kube.schemas.duplicates import DuplicateField, yaml_error
from mooring.kube.status import BadRequestError
from mooring.registry.request_body import UnknownFieldsError, UnreadableError, check_type
from mooring.registry.write_options import Sent

__all__ = ["create", "patch", "update"]


_CREATED_ONLY: Final = frozenset({"binding", "eviction", "token"})
_UPDATED_ONLY: Final = frozenset({"finalize"})


async def create(context: Context, call: Call) -> Response:
    resource, request = call.resource, call.request
    options = write_options(request, "CreateOptions")
    body = await request.body()
    document = await read_document(request.header(b"content-type"), body, resource.kind)
    obj = document.value
    check_type(resource, obj)
    request.holds(obj)
    sent = _sent(context, call, options, _duplicate_fields(options, body, document))

    def attempt() -> Object:
        return context.registry.create(resource, obj, namespace=call.target.namespace, **sent)

    try:
        made = await context.webhooks.write(call, attempt, partial(write_options_object, request), "CREATE")
    except (UnreadableError, UnknownFieldsError):
        # What cannot be read is not in the audit log.
        request.holds(None)
        raise
    return context.representations.one(request, call.representation, resource, made, 201, call.warnings)


async def update(context: Context, call: Call) -> Response:
    resource, request, target = call.resource, call.request, call.target
    if target.subresource in _CREATED_ONLY:
        raise wrong_method()
    options = write_options(request, "UpdateOptions")
    kind = "Scale" if target.subresource == "scale" else resource.kind
    body = await request.body()
    document = await read_document(request.header(b"content-type"), body, kind)
    if kind == resource.kind:
        check_type(resource, document.value)
    request.holds(document.value)
    sent = _sent(context, call, options, _duplicate_fields(options, body, document))
    obj = _addressed(call, document.value)

    def write() -> Object:
        return context.registry.update(
            resource,
            obj,
            subresource=target.subresource,
            before_create=partial(context.access.check_creation, request, target),
            **sent,
        )

    return await _changed(context, call, write)


async def patch(context: Context, call: Call) -> Response:
    resource, request, target = call.resource, call.request, call.target
    if target.subresource in _CREATED_ONLY or target.subresource in _UPDATED_ONLY:
        raise wrong_method()
    content_type = request.header(b"content-type")
    body = await request.body()
    patch_type, document = await decode_patch(content_type, body, custom=resource.custom)
    if patch_type == "apply" and body.lstrip()[:1] == b"{" and find_duplicate_fields(body, document.value):
        # An apply is read as YAML, whatever it looks like, and YAML tells of keys by their line.
        document = read_yaml(body)
    options = write_options(request, "PatchOptions", applies=patch_type == "apply")
    if document.duplicate_keys and options.field_validation == "Strict":
        why = yaml_error(document.duplicate_keys)
        raise BadRequestError(f"error strict decoding YAML: error converting YAML to JSON: {why}")
    duplicate_fields = () if patch_type == "json" else _duplicate_fields(options, body, document)
    sent = _sent(context, call, options, duplicate_fields)

    def write() -> Object:
        return context.registry.patch(
            resource,
            call.namespace,
            target.name,
            patch_type,
            document.value,
            subresource=target.subresource,
            force=bool(options.force),
            before_create=partial(context.access.check_creation, request, target),
            **sent,
        )

    return await _changed(context, call, write)


async def _changed(context: Context, call: Call, write: Callable[[], Object]) -> Response:
    """Carry an update or a patch out; either may make the object, which is answered with another code."""
    request = call.request

    def attempt() -> tuple[Object, bool]:
        existed = _exists(context, call)
        return write(), existed

    made, existed = await context.webhooks.write(
        call, attempt, partial(write_options_object, request), "UPDATE", "CREATE"
    )
    return context.representations.one(
        request, call.representation, call.resource, made, 200 if existed else 201, call.warnings
    )


def _sent(context: Context, call: Call, options: WriteOptions, duplicate_fields: tuple[DuplicateField, ...]) -> Sent:
    """What a write is sent with, whichever verb it is. The time is that of the first attempt."""
    return Sent(
        now=context.clock(),
        manager=options.manager,
        dry_run=options.dry_run,
        field_validation=options.field_validation,
        user=call.user,
        groups=call.request.user.groups,
        user_uid=call.request.user.uid,
        user_extra=call.request.user.extra,
        duplicate_fields=duplicate_fields,
        warnings=call.warnings,
        annotations=call.request.annotations,
    )


def _duplicate_fields(options: WriteOptions, body: bytes, document: BodyDocument) -> tuple[DuplicateField, ...]:
    """The duplicate fields of a body; none when the client ignores field validation."""
    if options.field_validation == "Ignore":
        return ()
    if document.duplicate_keys or body.lstrip()[:1] != b"{":
        return document.duplicate_keys
    return find_duplicate_fields(body, document.value)


def _exists(context: Context, call: Call) -> bool:
    """Whether the write changes something that is there."""
    resource, target = call.resource, call.target
    if target.subresource and target.subresource not in resource.subresources:
        raise not_found()
    return context.registry.has(resource, call.namespace, target.name)


def _addressed(call: Call, obj: Any) -> Any:
    """The object with the namespace of the URL, where it says nothing else; its name must be the one in the URL."""
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata") or {}, dict):
        return obj
    metadata, name = obj.get("metadata") or {}, call.target.name
    given = metadata.get("name")
    if not given:
        raise BadRequestError(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")
    if given != name:
        raise BadRequestError(f"the name of the object ({given}) does not match the name on the URL ({name})")
    if not call.resource.namespaced:
        return {**obj, "metadata": {key: value for key, value in metadata.items() if key != "namespace"}}
    if metadata.get("namespace") not in (None, "", call.namespace):
        raise BadRequestError("the namespace of the provided object does not match the namespace sent on the request")
    return {**obj, "metadata": {**metadata, "namespace": call.namespace}}
