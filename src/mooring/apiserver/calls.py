"""The arguments of every handler: the context of the server, and the call, a request on one resource."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authorization.access_control import AccessControl
from mooring.apiserver.messages.negotiation import Representation
from mooring.apiserver.messages.representations import Representations
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.routing import RequestInfo
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, MethodNotAllowedError, NotFoundError
from mooring.registry import Registry, Resource

if TYPE_CHECKING:
    from mooring.apiserver.webhooks import Webhooks

__all__ = ["Call", "Context", "not_found", "not_served", "success", "wrong_method"]


@dataclass(frozen=True, slots=True)
class Context:
    registry: Registry
    clock: Callable[[], datetime]
    representations: Representations
    webhooks: "Webhooks"
    access: AccessControl
    accounts: ServiceAccountTokens


@dataclass(slots=True)
class Call:
    """One request on one resource. `warnings` are sent to the client as Warning headers."""

    request: HttpRequest
    target: RequestInfo
    resource: Resource
    representation: Representation
    warnings: list[str] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        return self.target.namespace or ""

    @property
    def field_selector(self) -> str:
        # Some clients send the parameter twice; the terms hold together then.
        return ",".join(filter(None, self.request.query.get("fieldSelector", ())))

    @property
    def user(self) -> str:
        return self.request.user.name


class _NotServed(ApiError):
    code = 501
    reason = "NotImplemented"


def not_found() -> NotFoundError:
    return NotFoundError("the server could not find the requested resource")


def wrong_method() -> MethodNotAllowedError:
    return MethodNotAllowedError("the server does not allow this method on the requested resource")


def not_served(what: str) -> ApiError:
    return _NotServed(f"{what} is not served by this API server yet")


def success(code: int, details: Object | None = None) -> Object:
    """The Status of a request that went well and has no object to show."""
    made: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return made | ({"details": details} if details else {"code": code})
