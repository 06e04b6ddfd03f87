"""Which tokens of ServiceAccounts a node may ask for: those of its own pods, for audiences that they name.

A role can let a node ask for other audiences, so that this part of NodeRestriction needs an authorizer.
"""

from __future__ import annotations

from mooring.apiserver.authorization.attributes import AccessDecision, Attributes
from mooring.apiserver.calls import Call, Context
from mooring.kube.objects import Object
from mooring.registry.admission.chain import AdmissionRequest
from mooring.registry.admission.node_restriction import restrict_token_request

__all__ = ["check_token_request"]


def check_token_request(context: Context, call: Call, body: Object) -> None:
    """Refuse a TokenRequest, as its author sent it, for the account that the call names."""
    user = call.request.user

    def may_request(audience: str) -> bool:
        verb = "request-serviceaccounts-token-audience"
        about = Attributes(user, verb, resource=audience, namespace=call.namespace, name=call.target.name, version="v1")
        return context.access.authorizer(about).decision is AccessDecision.ALLOW

    request = AdmissionRequest(
        operation="CREATE",
        resource=call.resource,
        namespace=call.namespace,
        name=call.target.name,
        object=body,
        old_object=None,
        subresource="token",
        user=user.name,
        groups=user.groups,
        dry_run=False,
        warnings=call.warnings,
    )
    restrict_token_request(request, context.registry, may_request)
