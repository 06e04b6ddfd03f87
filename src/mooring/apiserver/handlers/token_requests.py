"""The sub-resource `token` of ServiceAccounts: a TokenRequest is answered with a token, and nothing is stored."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any, Final
from uuid import uuid4

import msgspec

from mooring.api.authentication.token_requests import BoundObject, TokenRequestSpec, validate_token_request
from mooring.apiserver.authentication.service_account_tokens import Binding, credential_id
from mooring.apiserver.authorization.node_tokens import check_token_request
from mooring.apiserver.calls import Call, Context
from mooring.apiserver.messages.bodies import decode_object
from mooring.apiserver.messages.options import write_options
from mooring.apiserver.messages.responses import Response, json_response
from mooring.apiserver.webhooks.options import write_options_object
from mooring.kube.errors import invalid
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError, ConflictError, InvalidError
from mooring.kube.times import timestamp

__all__ = ["create_token"]

_GROUP: Final = "authentication.k8s.io"
_KIND: Final = "TokenRequest"
# Names the new token in the audit log, as its requests will.
_ISSUED: Final = "authentication.kubernetes.io/issued-credential-id"
_BOUND_KINDS: Final = ("Pod", "Node", "Secret")


async def create_token(context: Context, call: Call) -> Response:
    tokens = context.accounts
    write_options(call.request, "CreateOptions")
    given = await decode_object(call.request.header(b"content-type"), await call.request.body(), _KIND)
    call.request.holds(given)
    if not isinstance(given, dict) or given.get("kind") not in (None, "", _KIND):
        raise BadRequestError(f"the object provided is unrecognized (must be of type {_KIND})")
    account, metadata = _account(context, call, given.get("metadata") or {})
    spec = _spec(given.get("spec") or {})
    audiences = spec.audiences or tokens.audiences
    now = context.clock()
    answered: Object = {
        "kind": _KIND,
        "apiVersion": f"{_GROUP}/v1",
        "metadata": {**metadata, "creationTimestamp": timestamp(now)},
        "spec": {
            "audiences": list(audiences),
            "expirationSeconds": spec.seconds,
            "boundObjectRef": None if spec.bound_object_ref is None else _shown(spec.bound_object_ref),
        },
        "status": {"token": "", "expirationTimestamp": None},
    }
    if errors := validate_token_request(spec):
        raise InvalidError(_KIND, _GROUP, "", errors)
    check_token_request(context, call, given)
    await context.webhooks.review(call, answered, partial(write_options_object, call.request))
    binding = None if spec.bound_object_ref is None else _binding(context, call, spec.bound_object_ref)
    token_id = str(uuid4())
    token = tokens.issue(account, spec.seconds, audiences, binding, now=now, token_id=token_id)
    if (annotations := call.request.annotations) is not None:
        annotations[_ISSUED] = credential_id(token_id)
    status = {"token": token, "expirationTimestamp": timestamp(now + timedelta(seconds=spec.seconds))}
    return json_response({**answered, "status": status}, 201, call.warnings)


def _account(context: Context, call: Call, metadata: Any) -> tuple[Object, Object]:
    """The account that the URL names, and the metadata of the answer. What the body says of it must be true."""
    if not isinstance(metadata, dict):
        raise BadRequestError(f"the metadata of a {_KIND} must be an object")
    name, namespace = call.target.name, call.namespace
    for field, known in (("name", name), ("namespace", namespace)):
        if (found := metadata.get(field)) not in (None, "", known):
            error = invalid(f"metadata.{field}", found, f"must match the service account {field} if specified")
            raise InvalidError(_KIND, _GROUP, name, [error])
    account = context.registry.get(call.resource, namespace, name)
    uid = account["metadata"]["uid"]
    if (found := metadata.get("uid")) not in (None, "", uid):
        why = f"the UID in the token request ({found}) does not match the UID of the service account ({uid})"
        raise ConflictError.of(_KIND, _GROUP, name, why)
    return account, {**metadata, "name": name, "namespace": namespace, "uid": uid}


def _spec(given: Any) -> TokenRequestSpec:
    try:
        return msgspec.convert(given, TokenRequestSpec)
    except msgspec.ValidationError as error:
        raise BadRequestError(f'{_KIND} in version "v1" cannot be handled as a {_KIND}: {error}') from None


def _binding(context: Context, call: Call, reference: BoundObject) -> Binding:
    group, _, version = reference.api_version.rpartition("/")
    kind, name = reference.kind, reference.name
    if group or kind not in _BOUND_KINDS:
        raise BadRequestError(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
    registry = context.registry
    found = registry.get(registry.resource("v1", kind), "" if kind == "Node" else call.namespace, name)
    node = None
    if kind == "Pod":
        account, node_name = call.target.name, found["spec"].get("nodeName")
        if account != found["spec"].get("serviceAccountName"):
            shown = f'cannot bind token for serviceaccount "{account}" to pod running with different'
            raise BadRequestError(f"{shown} serviceaccount name.")
        if node_name:
            node = registry.find("v1", "Node", "", node_name) or {"metadata": {"name": node_name}}
    if reference.uid and reference.uid != found["metadata"]["uid"]:
        why = (
            f"the UID in the bound object reference ({reference.uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise ConflictError.of(kind, "", name, why)
    return Binding(kind, found, node)


def _shown(reference: BoundObject) -> Object:
    fields = {
        "kind": reference.kind,
        "apiVersion": reference.api_version,
        "name": reference.name,
        "uid": reference.uid,
    }
    return {key: value for key, value in fields.items() if value}
