"""Custom kinds at run time: a CustomResourceDefinition that is stored is served from the next request on.

Acceptance is decided on the way in, so that a definition is established at once or says why not; serving follows from
what is stored, so that it is the same after a restart. A definition that is deleted takes its objects with it, and
stays until the last of them is gone.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from mooring.api.apiextensions.versions import version_schema
from mooring.kube.apply import update
from mooring.kube.conditions import conditions_of, is_true, set_conditions
from mooring.kube.objects import Object
from mooring.kube.schemas import builtin_schema
from mooring.kube.status import ForbiddenError, InternalError, qualified
from mooring.registry.admission.chain import AdmissionRequest, ClusterView
from mooring.registry.core import Convert, Core, CustomKind
from mooring.registry.resources import Resource
from mooring.registry.strategies import Strategy

__all__ = [
    "CLEANUP",
    "DEFINITIONS",
    "KIND",
    "CustomResourceDefinitions",
    "RemoteConvert",
    "accept_definition",
    "marked_for_cleaning",
    "refuse_objects_of_deleted",
]

# Takes the spec of a definition, an object and the apiVersion wanted; raises where the answer is not there yet.
RemoteConvert = Callable[[Object, Object, str], Object]

DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"
CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"
KIND: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_VERSION: Final = re.compile("v([0-9]+)(?:(alpha|beta)([0-9]+))?").fullmatch
_OUTSIDE: Final = frozenset({"apiVersion", "kind", "metadata"})


def accept_definition(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Give a definition the status that says whether its names are free and its kinds are served."""
    obj = request.object
    if obj is None or request.resource.store != DEFINITIONS or request.subresource:
        return None
    spec = obj.get("spec") or {}
    names, versions = spec.get("names") or {}, spec.get("versions") or []
    stamp = obj["metadata"]["creationTimestamp"]
    known = conditions_of(obj)
    taken = _taken(obj, view)
    if taken:
        accepted = _condition("NamesAccepted", "False", taken[0], taken[1])
        established = _condition("Established", "False", "NotAccepted", "not all names are accepted")
    else:
        accepted = _condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
        message = "the initial names have been accepted"
        established = _condition("Established", "True", "InitialNamesAccepted", message)
    stored = (obj.get("status") or {}).get("storedVersions") or []
    storage = [version["name"] for version in versions if version.get("storage")][:1]
    status = {
        "conditions": set_conditions(known, (accepted, established), stamp) or known,
        "acceptedNames": {} if taken else names,
        "storedVersions": [*stored, *(name for name in storage if name not in stored)],
    }
    made = {**obj, "metadata": dict(obj["metadata"]), "status": status}
    obj = {**obj, "status": {**(obj.get("status") or {}), "storedVersions": status["storedVersions"]}}
    if status != obj["status"]:
        managers = obj["metadata"].get("managedFields")
        version, schema = KIND[0], builtin_schema(*KIND)
        entries = update(obj, made, "kube-apiserver", schema, managers, version, stamp, "status")
        made["metadata"]["managedFields"] = entries
    return made


def refuse_objects_of_deleted(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Of a kind whose definition is going nothing is created any more: it would keep the definition."""
    resource = request.resource
    if request.operation != "CREATE" or not resource.custom or request.subresource:
        return None
    definition = view.find(*KIND, "", resource.store)
    if definition is not None and "deletionTimestamp" in definition["metadata"]:
        why = "create not allowed while custom resource definition is terminating"
        raise ForbiddenError.of(resource.plural, resource.group, request.name, why)
    return None


def marked_for_cleaning(obj: Object, now: str) -> Object:
    """A definition whose deletion begins: its objects go first."""
    finalizers = obj["metadata"].get("finalizers", [])
    metadata = {**obj["metadata"], "finalizers": finalizers if CLEANUP in finalizers else [*finalizers, CLEANUP]}
    message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    leaving = _condition("Terminating", "True", "InstanceDeletionPending", message)
    known = conditions_of(obj)
    conditions = set_conditions(known, (leaving,), now) or known
    return {**obj, "metadata": metadata, "status": {**obj["status"], "conditions": conditions}}


def _condition(kind: str, status: str, reason: str, message: str) -> Object:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _taken(obj: Object, view: ClusterView) -> tuple[str, str] | None:
    """The reason and the sentence about a name that another definition of the group has; the API tells the last."""
    spec = obj["spec"]
    names = spec.get("names") or {}
    found = None
    for other in view.all(*KIND):
        accepted = (other.get("status") or {}).get("acceptedNames") or {}
        if other["metadata"]["name"] == obj["metadata"]["name"] or other["spec"]["group"] != spec.get("group"):
            continue
        words = {accepted.get("plural"), accepted.get("singular"), *accepted.get("shortNames", ())} - {None, ""}
        kinds = {accepted.get("kind"), accepted.get("listKind")} - {None, ""}
        for reason, wanted, known in (
            ("PluralConflict", [names.get("plural")], words),
            ("SingularConflict", [names.get("singular")], words),
            ("ShortNamesConflict", names.get("shortNames", ()), words),
            ("KindConflict", [names.get("kind")], kinds),
            ("ListKindConflict", [names.get("listKind")], kinds),
        ):
            for name in wanted:
                if name in known:
                    found = reason, f'"{name}" is already in use'
    return found


class CustomResourceDefinitions:
    """Serves what the stored definitions say; called after every change of one."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.conversions: dict[tuple[str, str], Convert] = {}
        self.remote_conversion: RemoteConvert | None = None
        # The version in which the objects of a definition are stored, served or not, by the definition's name.
        self.stored: dict[str, Resource] = {}
        for obj in core.storage.items(DEFINITIONS):
            self.changed(obj, None)

    def changed(self, new: Object | None, old: Object | None) -> None:
        if new is not None and old is not None and _serving(new) == _serving(old):
            # Watches of the kind go on.
            return
        if old is not None:
            # Of a kind that is gone for good the rest stays known: the last of its objects are still told of.
            self._withdraw(old, forget=new is not None)
        if new is not None and _is_established(new):
            self._serve(new)
        elif old is not None:
            self.stored.pop(old["metadata"]["name"], None)

    def finish(self, store: str) -> None:
        """Let a deleted definition go when the last of its objects has."""
        core = self._core
        definitions = core.resources.of_kind(*KIND)
        found = core.find(definitions, "", store)
        if found is None or "deletionTimestamp" not in found["metadata"] or not core.storage.is_empty(store):
            return
        kept = [each for each in found["metadata"].get("finalizers", ()) if each != CLEANUP]
        if kept:
            core.commit(definitions, {**found, "metadata": {**found["metadata"], "finalizers": kept}}, found)
        else:
            core.remove(definitions, found)

    def _withdraw(self, obj: Object, *, forget: bool) -> None:
        spec = obj["spec"]
        for version in spec["versions"]:
            api_version = f"{spec['group']}/{version['name']}"
            found = self._core.resources.find(api_version, spec["names"]["kind"])
            if found is not None:
                self._core.resources.remove(found)
            if forget:
                self._core.custom.pop((api_version, spec["names"]["kind"]), None)

    def _serve(self, obj: Object) -> None:
        spec = obj["spec"]
        names, group = spec["names"], spec["group"]
        storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
        for index, version in enumerate(spec["versions"]):
            subresources = version.get("subresources") or {}
            resource = Resource(
                group=group,
                version=version["name"],
                kind=names["kind"],
                plural=names["plural"],
                namespaced=spec["scope"] == "Namespaced",
                singular=names["singular"],
                short_names=tuple(names.get("shortNames", ())),
                categories=tuple(names.get("categories", ())),
                subresources=frozenset(name for name in ("status", "scale") if subresources.get(name) is not None),
                custom=True,
                list_kind=names["listKind"],
                stored_as=f"{group}/{storage}",
                store=qualified(names["plural"], group),
            )
            # A version that is not served still has objects, and their managers, to be read.
            self._core.custom[resource.api_version, resource.kind] = CustomKind(
                compiled=partial(version_schema, version, f"spec.versions[{index}].schema"),
                strategy=Strategy(intent=_intent(resource), unconditional=False),
                convert=self._converter(spec, group, names["kind"]),
                scale=subresources.get("scale"),
                selectable=tuple(each["jsonPath"].lstrip(".") for each in version.get("selectableFields", ())),
                warning=_deprecation(version, resource, spec["versions"]),
                revision=int(obj["metadata"].get("resourceVersion") or 0),
            )
            if version.get("storage"):
                self.stored[obj["metadata"]["name"]] = resource
            if version.get("served"):
                self._core.resources.add(resource)

    def _converter(self, spec: Object, group: str, kind: str) -> Convert:
        if spec["conversion"]["strategy"] == "None":
            return lambda obj, wanted: {**obj, "apiVersion": wanted}

        def convert(obj: Object, wanted: str) -> Object:
            if obj.get("apiVersion") == wanted:
                return obj
            function = self.conversions.get((group, kind))
            if function is not None:
                made = function(obj, wanted)
            elif self.remote_conversion is not None:
                made = self.remote_conversion(spec, obj, wanted)
            else:
                raise InternalError.of(
                    f"conversion of {kind} from {obj.get('apiVersion')} to {wanted}: no function is registered for it"
                )
            # Conversion is about fields of the kind; metadata stays what it is, but for labels and annotations.
            kept = {key: value for key, value in made["metadata"].items() if key in ("labels", "annotations")}
            rest = {key: value for key, value in obj["metadata"].items() if key not in ("labels", "annotations")}
            return {**made, "apiVersion": wanted, "metadata": rest | kept}

        return convert


def _serving(obj: Object) -> tuple[Object, bool]:
    return obj["spec"], _is_established(obj)


def _is_established(obj: Object) -> bool:
    return is_true(conditions_of(obj), "Established")


def _intent(resource: Resource) -> Any:
    outside = _OUTSIDE | {"status"} if resource.has_status else _OUTSIDE
    return lambda obj: {key: value for key, value in obj.items() if key not in outside}


def _deprecation(version: Object, resource: Resource, versions: list[Object]) -> str:
    if not version.get("deprecated"):
        return ""
    text = f"{resource.api_version} {resource.kind} is deprecated"
    better = [each["name"] for each in versions if each.get("served") and not each.get("deprecated")]
    if better:
        newest = max(better, key=_maturity)
        text = f"{text}; use {resource.group}/{newest} {resource.kind}"
    return version.get("deprecationWarning") or text


def _maturity(name: str) -> tuple[int, int, int]:
    """Versions by how much is promised: v2, v1, v1beta2, v1beta1, v1alpha1."""
    found = _VERSION(name)
    if found is None:
        return (0, 0, 0)
    level = {"": 3, "beta": 2, "alpha": 1}[found[2] or ""]
    return (level, int(found[1]), int(found[3] or 0))
