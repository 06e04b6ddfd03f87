"""Pod Security admission: pods that the level of their namespace does not allow are refused, templates warned of.

Most namespaces have no such label, and for those nothing more is loaded.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from mooring.api.core.podsecurity.breaches import Breach
from mooring.api.core.podsecurity.levels import PREFIX, PRIVILEGED, SecurityLevel, SecurityPolicy, policy_of
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError, InvalidError
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = ["pod_security"]

_OF_POD: Final = ("", "ephemeralcontainers", "resize")
# Where a kind keeps its template.
_TEMPLATES: Final = {
    "podtemplates": ("template",),
    "replicationcontrollers": ("spec", "template"),
    "replicasets.apps": ("spec", "template"),
    "deployments.apps": ("spec", "template"),
    "daemonsets.apps": ("spec", "template"),
    "statefulsets.apps": ("spec", "template"),
    "jobs.batch": ("spec", "template"),
    "cronjobs.batch": ("spec", "jobTemplate", "spec", "template"),
}
# Of the pods that there are when a namespace gets stricter, so many are looked at.
_MAX_PODS: Final = 3000


def pod_security(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Hold pods to the level of their namespace, and namespaces to levels that there are."""
    store, obj = request.resource.store, request.object
    if obj is None:
        return None
    if store == "namespaces":
        if not request.subresource:
            _check_namespace(request, obj, view)
    elif store == "pods":
        if request.subresource in _OF_POD:
            policy = _policy(request, view)
            if policy is None:
                _note(request, "enforce-policy", str(PRIVILEGED))
            else:
                _check_pod(request, obj, policy)
    elif store in _TEMPLATES and not request.subresource and (policy := _policy(request, view)) is not None:
        template: Object | None = obj
        for name in _TEMPLATES[store]:
            template = (template or {}).get(name)
        if template is not None:
            _audit(request, policy.audit, template)
            _warn(request, policy.warn, template)
    return None


def _policy(request: AdmissionRequest, view: ClusterView) -> SecurityPolicy | None:
    """The policy of the request's namespace; None where it has none."""
    namespace = view.find("v1", "Namespace", "", request.namespace)
    labels = (namespace or {}).get("metadata", {}).get("labels") or {}
    return policy_of(labels) if any(name.startswith(PREFIX) for name in labels) else None


def _breaches(level: SecurityLevel, pod: Object) -> list[Breach]:
    from mooring.api.core.podsecurity.evaluation import breaches

    return breaches(level, pod.get("metadata") or {}, pod["spec"])


def _told(found: Iterable[Breach]) -> str:
    return ", ".join(map(str, found))


def _check_pod(request: AdmissionRequest, pod: Object, policy: SecurityPolicy) -> None:
    if request.old_object is not None and not _matters(pod["spec"], request.old_object["spec"]):
        return
    _note(request, "enforce-policy", str(policy.enforce))
    _audit(request, policy.audit, pod)
    if found := _breaches(policy.enforce, pod):
        why = f'violates PodSecurity "{policy.enforce}": {_told(found)}'
        raise ForbiddenError.of("pods", "", request.name, why)
    _warn(request, policy.warn, pod)


def _matters(new: Object, old: Object) -> bool:
    """Whether a change of a pod is looked at: of what can be changed at all, images and debuggers are."""
    for kind in ("containers", "initContainers"):
        after, before = new.get(kind) or (), old.get(kind) or ()
        if [each["image"] for each in after] != [each["image"] for each in before]:
            return True
    known = {each["name"]: each.get("image") for each in old.get("ephemeralContainers") or ()}
    return any(known.get(each["name"], "") != each.get("image") for each in new.get("ephemeralContainers") or ())


def _note(request: AdmissionRequest, key: str, text: str) -> None:
    if request.annotations is not None:
        request.annotations.setdefault(f"{PREFIX}{key}", text)


def _audit(request: AdmissionRequest, level: SecurityLevel, pod: Object) -> None:
    if request.annotations is not None and level.level != PRIVILEGED.level and (found := _breaches(level, pod)):
        _note(request, "audit-violations", f'would violate PodSecurity "{level}": {_told(found)}')


def _warn(request: AdmissionRequest, level: SecurityLevel, pod: Object) -> None:
    if level.level != PRIVILEGED.level and (found := _breaches(level, pod)):
        request.warnings.append(f'would violate PodSecurity "{level}": {_told(found)}')


def _check_namespace(request: AdmissionRequest, namespace: Object, view: ClusterView) -> None:
    policy = policy_of(namespace["metadata"].get("labels") or {})
    old = request.old_object
    before = SecurityPolicy() if old is None else policy_of(old["metadata"].get("labels") or {})
    if policy.errors and policy.errors != before.errors:
        raise InvalidError("Namespace", "", request.name, list(policy.errors))
    now, was = policy.enforce, before.enforce
    if old is None or now in (was, PRIVILEGED) or now.level == PRIVILEGED.level:
        return
    if now.version != was.version or now.is_stricter(was):
        request.warnings.extend(_existing(request.name, now, view.all("v1", "Pod", request.name)))


def _existing(namespace: str, level: SecurityLevel, pods: Sequence[Object]) -> list[str]:
    """What is said of pods that are there already; those that are alike in it are counted."""
    names: dict[str, list[str]] = {}
    for pod in _first_of_each_owner(pods)[:_MAX_PODS]:
        if found := _breaches(level, pod):
            names.setdefault(", ".join(each.reason for each in found), []).append(pod["metadata"]["name"])
    told: list[str] = []
    if len(pods) > _MAX_PODS:
        of = f"{_MAX_PODS} of {len(pods)}"
        told.append(f"new PodSecurity enforce level only checked against the first {of} existing pods")
    if names:
        head = f"existing pods in namespace {go_quote(namespace)} violate the new PodSecurity enforce level"
        told.append(f'{head} "{level}"')
    return told + sorted(_counted(reasons, found) for reasons, found in names.items())


def _first_of_each_owner(pods: Sequence[Object]) -> list[Object]:
    """Pods of one owner are alike, so that all but the first of them come last."""
    seen: set[str] = set()
    first: list[Object] = []
    others: list[Object] = []
    for pod in pods:
        owners = pod["metadata"].get("ownerReferences") or ()
        owner = next((each["uid"] for each in owners if each.get("controller")), "")
        (others if owner and owner in seen else first).append(pod)
        seen.add(owner)
    return first + others


def _counted(reasons: str, names: Sequence[str]) -> str:
    more = len(names) - 1
    others = "" if not more else " (and 1 other pod)" if more == 1 else f" (and {more} other pods)"
    return f"{min(names)}{others}: {reasons}"
