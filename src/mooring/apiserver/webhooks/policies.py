"""ValidatingAdmissionPolicies in force: compiled when they change, and asked about every request that they match."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mooring.admission.policies.policy import MatchResources, Policy, PolicyBinding, read_policies
from mooring.admission.reviews import GroupVersionKind
from mooring.admission.rules import is_exempt, selects_namespace, selects_object
from mooring.apiserver.authorization.attributes import Authorizer
from mooring.apiserver.webhooks.off_loop import OffLoop
from mooring.apiserver.webhooks.policy_audit import PolicyAudit
from mooring.apiserver.webhooks.review import AdmissionAttributes
from mooring.kube.objects import Object
from mooring.kube.selectors import selector_from_dict
from mooring.kube.status import ApiError, ForbiddenError, NotFoundError
from mooring.registry import Registry, Resource, Watch
from mooring.registry.kinds.policy_types import check_policy_types

if TYPE_CHECKING:
    from mooring.admission.policies.decisions import PolicyFailure

__all__ = ["Policies", "PolicyConfigurationError"]

_GROUP: Final = "admissionregistration.k8s.io/v1"
_KINDS: Final = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
_CODES: Final = {"Forbidden": 403, "RequestEntityTooLarge": 413}
# Gives the objects of a request in a version, and their kind there.
Shown = Callable[[Resource], Awaitable[tuple[Object | None, Object | None, GroupVersionKind]]]


class PolicyConfigurationError(Exception):
    """A policy or binding that cannot be applied to a request."""


class Policies:
    """The policies that some binding puts in force."""

    def __init__(self, registry: Registry, authorize: Authorizer, off_loop: OffLoop) -> None:
        self._registry = registry
        self._authorize = authorize
        self._off_loop = off_loop
        self._known: tuple[Policy, ...] | None = None
        self._concerned: dict[tuple[Resource, str, tuple[str, ...]], bool] = {}
        # Never polled: only its wake callback is used, which is called on every change.
        self._watches = [self._listen(kind) for kind in _KINDS]
        registry.admission.late.append(check_policy_types)

    def _listen(self, kind: str) -> Watch:
        resource = self._registry.resource(_GROUP, kind)
        return self._registry.watch(resource, resource_version=str(self._registry.revision), wake=self._forget)

    def _forget(self) -> None:
        self._known = None
        self._concerned.clear()

    def close(self) -> None:
        for watch in self._watches:
            watch.close()

    @property
    def _policies(self) -> tuple[Policy, ...]:
        if self._known is None:
            self._known = read_policies(*(self._registry.all(_GROUP, kind) for kind in _KINDS))
        return self._known

    def concern(self, resource: Resource, subresource: str, *operations: str) -> bool:
        """Whether the rules of some policy cover such a request; names and selectors are still to be asked."""
        if not self._policies:
            return False
        key = (resource, subresource, operations)
        found = self._concerned.get(key)
        if found is None:
            found = self._concerned[key] = not is_exempt(resource) and self._covered(*key)
        return found

    def _covered(self, resource: Resource, subresource: str, operations: tuple[str, ...]) -> bool:
        versions = (resource, *self._registry.resources.in_store(resource.store))
        return any(
            rule.covers(version, subresource, operation)
            for policy in self._policies
            for rule in policy.match.rules
            for version in versions
            for operation in operations
        )

    async def check(
        self, about: AdmissionAttributes, obj: Object | None, old: Object | None, shown: Shown, warnings: list[str]
    ) -> None:
        """Raise an ApiError where some policy denies the request."""
        denied: tuple[str, str] | None = None
        if is_exempt(about.resource):
            return
        audit = PolicyAudit()
        for policy in self._policies:
            name = f"ValidatingAdmissionPolicy '{policy.name}'"
            version = self._matched(policy.match, about, obj, old)
            if version is None:
                continue
            for binding in policy.bindings:
                if binding.match is not None and self._matched(binding.match, about, obj, old) is None:
                    continue
                told = f"{name} with binding '{binding.name}'"
                try:
                    failures, noted = await self._ask(policy, binding, about, version, shown)
                except PolicyConfigurationError as error:
                    if not policy.fails_open:
                        denied = denied or (f"{told} denied request: failed to configure binding: {error}", "")
                    continue
                audit.add(policy.name, noted)
                for failure in failures:
                    if "Audit" in binding.actions and not failure.always:
                        audit.failed(policy.name, binding, failure)
                    if "Warn" in binding.actions and not failure.always:
                        warnings.append(f"Validation failed for {told}: {failure.message}")
                    if "Deny" in binding.actions or failure.always:
                        denied = denied or (f"{told} denied request: {failure.message}", failure.reason)
        if about.annotations is not None:
            audit.publish(about.annotations)
        if denied is not None:
            raise _denial(about, *denied)

    def _matched(
        self, match: MatchResources, about: AdmissionAttributes, obj: Object | None, old: Object | None
    ) -> Resource | None:
        resource = about.resource
        others = self._registry.resources.in_store(resource.store)
        version = match.version_for(resource, about.subresource, about.operation, about.name, others)
        if version is None:
            return None
        inside = selects_namespace(match, resource, about.subresource, about.namespace, obj, self._namespace)
        return version if inside and selects_object(match, obj, old) else None

    def _namespace(self, name: str) -> Object | None:
        return self._registry.find("v1", "Namespace", "", name)

    async def _ask(
        self, policy: Policy, binding: PolicyBinding, about: AdmissionAttributes, version: Resource, shown: Shown
    ) -> tuple[list[PolicyFailure], list[dict[str, str]]]:
        from mooring.admission.policies.decisions import decide
        from mooring.apiserver.webhooks.request_variables import namespace_variable, request_variables

        obj, old, kind = await shown(version)
        variables = request_variables(about, version, kind, obj, old, self._authorize)
        if about.namespace and about.resource.store != "namespaces":
            namespace = self._namespace(about.namespace)
            if namespace is None:
                raise NotFoundError.of("namespaces", "", about.namespace)
            variables["namespaceObject"] = namespace_variable(namespace)
        failures: list[PolicyFailure] = []
        noted: list[dict[str, str]] = []
        for params in self._params(policy, binding, about):
            given = {**variables, "params": params}
            found, annotations = await self._off_loop.run(partial(decide, policy, given))
            failures += found
            noted.append(annotations)
        return failures, noted

    def _params(self, policy: Policy, binding: PolicyBinding, about: AdmissionAttributes) -> Sequence[Any]:
        """The objects that parametrise a policy; one None where it has none."""
        kind, reference = policy.param_kind, binding.param_ref
        if kind is None or reference is None:
            return [None]
        resource = self._registry.resources.find(kind["apiVersion"], kind["kind"])
        if resource is None:
            raise PolicyConfigurationError(f"paramKind kind `{kind['apiVersion']}, Kind={kind['kind']}` not known")
        namespace = reference.get("namespace") or ""
        if resource.namespaced:
            namespace = namespace or ("" if about.resource.store == "namespaces" else about.namespace)
            if not namespace:
                raise PolicyConfigurationError(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
                )
        elif namespace:
            raise PolicyConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        found = self._find_params(kind, reference, namespace)
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            raise PolicyConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction")
        return found

    def _find_params(self, kind: Object, reference: Object, namespace: str) -> list[Object]:
        if reference.get("name"):
            one = self._registry.find(kind["apiVersion"], kind["kind"], namespace, reference["name"])
            return [] if one is None else [one]
        matches = selector_from_dict(reference.get("selector") or {}).matches
        stored = self._registry.all(kind["apiVersion"], kind["kind"], namespace or None)
        return [each for each in stored if matches(each["metadata"].get("labels") or {})]


def _denial(about: AdmissionAttributes, message: str, reason: str) -> ApiError:
    resource, cause = about.resource, {"message": message}
    error: ApiError = ForbiddenError.of(resource.plural, resource.group, about.name or "Unknown", message, [cause])
    error.reason = reason or "Invalid"
    error.code = _CODES.get(error.reason, 422)
    return error
