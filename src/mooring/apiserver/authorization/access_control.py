"""Access control of a server: who sends a request, whom it impersonates, and whether it is allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from mooring.apiserver.authentication.client_certificates import certificate_user
from mooring.apiserver.authentication.users import ANONYMOUS, Authenticate, User
from mooring.apiserver.authorization.attributes import AccessAnswer, AccessDecision, Attributes, Authorizer
from mooring.apiserver.authorization.chain import authorizer_chain
from mooring.apiserver.authorization.escalation import EscalationCheck
from mooring.apiserver.authorization.forbidden import forbidden
from mooring.apiserver.authorization.impersonation import read_impersonation
from mooring.apiserver.authorization.rbac import RBAC_GROUP, RbacAuthorizer
from mooring.apiserver.authorization.request_attributes import request_attributes
from mooring.apiserver.authorization.signers import SignerCheck
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.routing import RequestInfo
from mooring.kube.status import UnauthorizedError
from mooring.registry import Registry

__all__ = ["AccessControl"]


_KINDS: Final = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")


class AccessControl:
    """Authentication, impersonation and authorization. `authorizers` are asked before RBAC."""

    def __init__(
        self,
        registry: Registry,
        authenticate: Authenticate,
        clock: Callable[[], datetime],
        authorizers: Sequence[Authorizer] = (),
    ) -> None:
        self.authenticate = authenticate
        self._clock = clock
        self.rbac = RbacAuthorizer(registry.storage)
        self.authorizer = authorizer_chain(self.rbac, authorizers)
        registry.admission.late.append(EscalationCheck(self.authorizer, self.rbac))
        registry.admission.builtin_validating.append(SignerCheck(self.authorizer))
        # Never polled: only the wake callbacks are used, which are called on every change.
        self._watches = [
            registry.watch(
                registry.resource(f"{RBAC_GROUP}/v1", kind),
                resource_version=str(registry.revision),
                wake=self.rbac.forget,
            )
            for kind in _KINDS
        ]

    def close(self) -> None:
        for watch in self._watches:
            watch.close()

    def admit(self, request: HttpRequest, target: RequestInfo) -> None:
        """Set the user of a request, and raise where that user may not make it."""
        user = self._user(request)
        if user is not None:
            request.trust()
        request.user = user or ANONYMOUS
        audit = request.audit
        if audit is not None:
            audit.sender = request.user
        if request.impersonates:
            self._impersonate(request)
        about = request_attributes(request, target)
        answer = self.authorizer(about)
        if audit is not None:
            audit.authorized(about, answer)
        _demand(about, answer)

    def _user(self, request: HttpRequest) -> User | None:
        """By the client's certificate, else by its token; None where it has neither."""
        if request.certificate is not None:
            user = certificate_user(request.certificate, self._clock())
            if user is not None:
                return user
        token = request.token
        user = self.authenticate(token)
        if user is None and token is not None:
            raise UnauthorizedError("Unauthorized")
        return user

    def check(self, about: Attributes) -> None:
        """Raise unless the request is allowed."""
        _demand(about, self.authorizer(about))

    def check_creation(self, request: HttpRequest, target: RequestInfo) -> None:
        """Raise unless an update or apply may create the object that it names."""
        self.check(request_attributes(request, target)._replace(verb="create"))

    def _impersonate(self, request: HttpRequest) -> None:
        wanted = read_impersonation(request.impersonation_headers)
        if wanted is None:
            return
        for about in wanted.checks(request.user):
            self.check(about)
        request.user = wanted.user()


def _demand(about: Attributes, answer: AccessAnswer) -> None:
    if answer.decision is not AccessDecision.ALLOW:
        raise forbidden(about, answer.reason)
