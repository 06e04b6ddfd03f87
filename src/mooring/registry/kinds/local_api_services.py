"""The APIServices of what this server answers for itself: one for every group and version, custom ones included.

Programs look into them to see what is served. They are stored as they are, without a look: nothing in them comes from
others. Those of built-in kinds are put right at each start, as kube-apiserver does; those of custom kinds always.
"""

from typing import Final

from mooring.api.apiregistration.api_services import prepare_api_service
from mooring.kube.conditions import conditions_of, is_true
from mooring.kube.objects import Object
from mooring.registry.core import Core
from mooring.registry.kinds.definitions import DEFINITIONS

__all__ = ["BUILTIN_PRIORITIES", "LocalApiServices"]

# How discovery is ordered: the priority of the group, and that of the version in it. The API of APIServices has none.
BUILTIN_PRIORITIES: Final = {
    ("", "v1"): (18000, 1),
    ("apps", "v1"): (17800, 15),
    ("events.k8s.io", "v1"): (17750, 15),
    ("authentication.k8s.io", "v1"): (17700, 15),
    ("authorization.k8s.io", "v1"): (17600, 15),
    ("autoscaling", "v1"): (17500, 15),
    ("autoscaling", "v2"): (17500, 30),
    ("batch", "v1"): (17400, 15),
    ("certificates.k8s.io", "v1"): (17300, 15),
    ("networking.k8s.io", "v1"): (17200, 15),
    ("policy", "v1"): (17100, 15),
    ("rbac.authorization.k8s.io", "v1"): (17000, 15),
    ("storage.k8s.io", "v1"): (16800, 15),
    ("admissionregistration.k8s.io", "v1"): (16700, 15),
    ("apiextensions.k8s.io", "v1"): (16700, 15),
    ("scheduling.k8s.io", "v1"): (16600, 15),
    ("coordination.k8s.io", "v1"): (16500, 15),
    ("node.k8s.io", "v1"): (16300, 15),
    ("discovery.k8s.io", "v1"): (16200, 15),
    ("resource.k8s.io", "v1"): (16200, 21),
    ("flowcontrol.apiserver.k8s.io", "v1"): (16100, 21),
}
_CUSTOM_PRIORITIES: Final = (1000, 100)
_BUILTIN_NAMES: Final = frozenset(f"{version}.{group}" for group, version in BUILTIN_PRIORITIES)
_KIND: Final = ("apiregistration.k8s.io/v1", "APIService")
_STORE: Final = "apiservices.apiregistration.k8s.io"
_LABEL: Final = "kube-aggregator.kubernetes.io/automanaged"
_AT_START: Final = "onstart"
_ALWAYS: Final = "true"


class LocalApiServices:
    """Keeps them from now on; `now` is when those that are missing are made."""

    def __init__(self, core: Core, now: str) -> None:
        self._core = core
        self._resource = core.resources.of_kind(*_KIND)
        # The names of the APIServices of each definition, by its name.
        self._of: dict[str, frozenset[str]] = {}
        for (group, version), priorities in BUILTIN_PRIORITIES.items():
            self._have(_api_service(group, version, priorities, _AT_START), now)
        for definition in core.storage.items(DEFINITIONS):
            self._have_all(definition)
        known = _BUILTIN_NAMES.union(*self._of.values())
        for each in core.storage.items(_STORE):
            if each["metadata"]["name"] not in known and _manages(each):
                core.remove(self._resource, each)
        core.after[DEFINITIONS] = self._definition_changed
        core.after[_STORE] = self._service_changed

    def _definition_changed(self, new: Object | None) -> None:
        if new is not None:
            before = self._of.get(new["metadata"]["name"], frozenset())
            self._have_all(new)
            self._drop(before)
            return
        get = self._core.storage.get
        for name in [each for each in self._of if get(DEFINITIONS, "", each) is None]:
            self._drop(self._of.pop(name))

    def _service_changed(self, new: Object | None) -> None:
        """Put right what somebody changed; the label says whether that may be done."""
        if new is not None:
            name = new["metadata"]["name"]
            if any(name in names for names in self._of.values()):
                group, version = new["spec"].get("group", ""), new["spec"].get("version", "")
                self._have(_api_service(group, version, _CUSTOM_PRIORITIES, _ALWAYS), "")
            return
        get = self._core.storage.get
        for name, services in self._of.items():
            definition = get(DEFINITIONS, "", name)
            if definition is not None and any(get(_STORE, "", each) is None for each in services):
                self._have_all(definition)

    def _have_all(self, definition: Object) -> None:
        spec, metadata = definition["spec"], definition["metadata"]
        names = set()
        if is_true(conditions_of(definition), "Established"):
            for version in spec["versions"]:
                made = _api_service(spec["group"], version["name"], _CUSTOM_PRIORITIES, _ALWAYS)
                if version.get("served") and made["metadata"]["name"] not in _BUILTIN_NAMES:
                    names.add(made["metadata"]["name"])
                    self._have(made, metadata["creationTimestamp"])
        self._of[metadata["name"]] = frozenset(names)

    def _have(self, wanted: Object, now: str) -> None:
        core = self._core
        found = core.storage.get(_STORE, "", wanted["metadata"]["name"])
        if found is None:
            entry = {
                "manager": "kube-apiserver",
                "operation": "Update",
                "apiVersion": _KIND[0],
                "time": now,
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {".": {}, f"f:{_LABEL}": {}}},
                    "f:spec": {f"f:{field}": {} for field in sorted(wanted["spec"])},
                },
            }
            made_up = {"uid": core.identity.uid(), "creationTimestamp": now, "managedFields": [entry]}
            wanted["metadata"] |= made_up
            prepare_api_service(wanted, now)
            core.commit(self._resource, wanted, None)
        elif _manages(found) and found["spec"] != wanted["spec"]:
            core.commit(self._resource, {**found, "metadata": dict(found["metadata"]), "spec": wanted["spec"]}, found)

    def _drop(self, names: frozenset[str]) -> None:
        """Of what no definition stands for any more."""
        for name in names.difference(*self._of.values()):
            found = self._core.storage.get(_STORE, "", name)
            if found is not None and _manages(found):
                self._core.remove(self._resource, found)


def _manages(service: Object) -> bool:
    return service["metadata"].get("labels", {}).get(_LABEL) in (_AT_START, _ALWAYS)


def _api_service(group: str, version: str, priorities: tuple[int, int], managed: str) -> Object:
    spec = {"version": version, "groupPriorityMinimum": priorities[0], "versionPriority": priorities[1]}
    return {
        "apiVersion": _KIND[0],
        "kind": _KIND[1],
        "metadata": {"name": f"{version}.{group}", "labels": {_LABEL: managed}},
        "spec": {"group": group, **spec} if group else spec,
    }
