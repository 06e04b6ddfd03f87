"""The matching of webhooks to requests by rules, selectors and versions, as kube-apiserver does it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from mooring.kube.objects import Object
from mooring.kube.selectors import Selector, selector_from_dict
from mooring.kube.status import NotFoundError

__all__ = [
    "Hook",
    "Invocation",
    "Matching",
    "Served",
    "WebhookRule",
    "covered_version",
    "hooks_of",
    "invocation",
    "is_exempt",
    "read_rule",
    "selects_namespace",
    "selects_object",
]


# A webhook must not be able to keep people from removing it.
_EXEMPT: Final = frozenset(
    {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    }
)


class Served(Protocol):
    """A served kind, as rules see it."""

    @property
    def group(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def plural(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def store(self) -> str: ...

    @property
    def namespaced(self) -> bool: ...


R = TypeVar("R", bound=Served)


@dataclass(frozen=True, slots=True)
class WebhookRule:
    """One rule of a webhook. `resources` are pairs of resource and sub-resource; `*` stands for any."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    scope: str

    def covers(self, resource: Served, subresource: str, operation: str) -> bool:
        return (
            _has(self.operations, operation)
            and _has(self.groups, resource.group)
            and _has(self.versions, resource.version)
            and any(plural in ("*", resource.plural) and part in ("*", subresource) for plural, part in self.resources)
            and self._covers_scope(resource)
        )

    def _covers_scope(self, resource: Served) -> bool:
        if self.scope == "*":
            return True
        return self.scope == ("Namespaced" if resource.namespaced else "Cluster")


def _has(wanted: frozenset[str], value: str) -> bool:
    return "*" in wanted or value in wanted


@dataclass(frozen=True, slots=True, eq=False)
class Hook:
    """One webhook of a configuration, ready to be matched. `id` tells it from all others."""

    id: str
    name: str
    rules: tuple[WebhookRule, ...]
    exact: bool
    namespace_selector: Selector
    object_selector: Selector
    client: Object
    fails_open: bool
    seconds: int
    dry_runs: bool
    reinvoked: bool
    versions: tuple[str, ...]
    conditions: tuple[Object, ...] = ()
    # In the words of the audit log: where it stands, and among all webhooks of its phase.
    configuration: str = ""
    index: int = 0


class Matching(Protocol):
    """What webhooks and policies have in common: which requests they are about."""

    @property
    def rules(self) -> tuple[WebhookRule, ...]: ...

    @property
    def exact(self) -> bool: ...

    @property
    def namespace_selector(self) -> Selector: ...

    @property
    def object_selector(self) -> Selector: ...


class Invocation(NamedTuple, Generic[R]):
    """A webhook that matches a request, and the version in which it receives the object."""

    hook: Hook
    resource: R


def hooks_of(configuration: Object) -> list[Hook]:
    """The webhooks of a stored configuration, in their order."""
    name = configuration["metadata"]["name"]
    found = []
    for index, each in enumerate(configuration.get("webhooks") or ()):
        found.append(
            Hook(
                id=f"{name}/{each['name']}/{index}",
                name=each["name"],
                rules=tuple(read_rule(rule) for rule in each.get("rules") or ()),
                exact=each.get("matchPolicy") == "Exact",
                namespace_selector=selector_from_dict(each.get("namespaceSelector") or {}),
                object_selector=selector_from_dict(each.get("objectSelector") or {}),
                client=each["clientConfig"],
                fails_open=each.get("failurePolicy") == "Ignore",
                seconds=each.get("timeoutSeconds") or 10,
                dry_runs=each.get("sideEffects") in ("None", "NoneOnDryRun"),
                reinvoked=each.get("reinvocationPolicy") == "IfNeeded",
                versions=tuple(each.get("admissionReviewVersions") or ()),
                conditions=tuple(each.get("matchConditions") or ()),
                configuration=name,
            )
        )
    return found


def read_rule(rule: Object) -> WebhookRule:
    resources = []
    for each in rule.get("resources") or ():
        plural, _, part = each.partition("/")
        resources.append((plural, part))
    return WebhookRule(
        operations=frozenset(rule.get("operations") or ()),
        groups=frozenset(rule.get("apiGroups") or ()),
        versions=frozenset(rule.get("apiVersions") or ()),
        resources=tuple(resources),
        scope=rule.get("scope") or "*",
    )


def is_exempt(resource: Served) -> bool:
    """Whether a kind is exempt from webhooks."""
    return resource.group == "admissionregistration.k8s.io" and resource.kind in _EXEMPT


def invocation(
    hook: Hook, resource: R, subresource: str, operation: str, equivalents: Iterable[R]
) -> Invocation[R] | None:
    """The webhook with the version it is called with, if its rules cover the request.

    `equivalents` are all versions of the same objects: what a rule says about one holds for the others too, unless it
    wants to be taken exactly.
    """
    found = covered_version(hook.rules, hook.exact, resource, subresource, operation, equivalents)
    return None if found is None else Invocation(hook, found)


def covered_version(
    rules: Sequence[WebhookRule], exact: bool, resource: R, subresource: str, operation: str, equivalents: Iterable[R]
) -> R | None:
    """The version of the objects of a request that some rule covers, that of the request first."""
    if any(rule.covers(resource, subresource, operation) for rule in rules):
        return resource
    if exact:
        return None
    others = [each for each in equivalents if each is not resource]
    for rule in rules:
        for other in others:
            if rule.covers(other, subresource, operation):
                return other
    return None


def selects_namespace(
    hook: Matching,
    resource: Served,
    subresource: str,
    namespace: str,
    obj: Object | None,
    find: Callable[[str], Object | None],
) -> bool:
    """Whether the namespace of a request has the labels that the webhook asks for; `find` finds a namespace.

    A namespace itself is judged by the labels that it is about to have. What is in no namespace is never left out.
    """
    is_namespace = resource.store == "namespaces"
    if hook.namespace_selector.empty or (not namespace and not is_namespace):
        return True
    found = obj if is_namespace and not subresource and obj is not None else find(namespace)
    if found is None:
        raise NotFoundError.of("namespaces", "", namespace)
    return hook.namespace_selector.matches(found["metadata"].get("labels") or {})


def selects_object(hook: Matching, obj: Object | None, old: Object | None) -> bool:
    """Whether the new object or the old one has the labels that the webhook asks for."""
    if hook.object_selector.empty:
        return True
    matches = hook.object_selector.matches
    return any(each is not None and matches(each["metadata"].get("labels") or {}) for each in (obj, old))
