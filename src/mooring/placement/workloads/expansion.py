"""The pods that a workload would make, as its controller would make them, without a cluster.

Placement looks at pods only, but people write Deployments. Names differ from real ones where those are random: the
pods of Deployment `web` are `web-1`, `web-2` and so on. Labels and owners are the ones that spreading goes by.
"""

from __future__ import annotations

import zlib
from collections.abc import Container, Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.apps.owners import ReplicaSet, SelectorSpec, StatefulSet
from mooring.api.core.types import LabelSelector, ObjectMeta, ReplicationController, ReplicationControllerSpec
from mooring.kube.errors import FieldError, MooringError, go_json, invalid, required
from mooring.kube.objects import Object
from mooring.kube.selectors import selector_from_dict
from mooring.placement.workloads.known_cluster import KnownCluster

MAX_PODS: Final = 100_000
NOTHING_KNOWN: Final = KnownCluster()

# Objects that do not exist yet have no uid, but the API wants one in a reference.
_UID: Final = "00000000-0000-0000-0000-000000000000"

# Letters of which no words are made, as the controllers use them for hashes.
_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"


class WorkloadError(MooringError):
    """A workload that makes no pods, or whose pods cannot be told."""


class _Ordinals(msgspec.Struct, frozen=True):
    start: int = 0


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    replicas: int | None = None
    selector: LabelSelector | None = None
    template: Object | None = None
    service_name: str = ""
    pod_management_policy: str = ""
    ordinals: _Ordinals | None = None
    volume_claim_templates: tuple[Object, ...] | None = None
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = ""
    suspend: bool = False


class _Workload(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()


class _PodHead(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


class Expansion(NamedTuple):
    """What a workload comes to: its pods in the order of their creation, and what else the cluster must know."""

    kind: str
    namespace: str
    name: str
    pods: list[Object]
    owner: ReplicaSet | StatefulSet | ReplicationController | None = None
    # Why the API would refuse the workload itself; its pods are told apart from this.
    errors: tuple[FieldError, ...] = ()
    notes: tuple[str, ...] = ()
    # Where the pod stands in the object.
    template_path: str = "spec.template"
    # What it waits for before it makes pods, although the API takes it.
    waits: str = ""
    # Nodes that come because of the workload, before its pods are placed.
    new_nodes: tuple[Object, ...] = ()
    # Claims that are made with the pods, where they are not there yet.
    claims: tuple[Object, ...] = ()


def expand(value: Object, namespace: str = "default", cluster: KnownCluster = NOTHING_KNOWN) -> Expansion:
    """The pods of a built-in workload; names that are taken are passed over where names are random.

    Raises WorkloadError, or msgspec.ValidationError for a value of the wrong type.
    """
    kind = value["kind"]
    value = {
        **value,
        **{field: written(value[field]) for field in ("metadata", "spec") if value.get(field) is not None},
    }
    if kind == "Pod":
        metadata = msgspec.convert(value, _PodHead).metadata
        return _one_pod(value, metadata.namespace or namespace, metadata.name)
    if kind == "ReplicationController":
        value = _with_label_selector(value)
    view = msgspec.convert(value, _Workload)
    name = view.metadata.name
    if not name:
        raise WorkloadError(f"a {kind} needs a name", "metadata.name")
    base = _Base(kind, view.metadata.namespace or namespace, name, _template(kind, view.spec), cluster.taken)
    match kind:
        case "StatefulSet":
            return _stateful(base, view.spec)
        case "Job":
            return _job(base, view.spec)
    return _replicas(base, view.spec)


def written(value: Any) -> Any:
    """A field that is null counts as absent, as it does for the API."""
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, dict) else value


class _Base(NamedTuple):
    kind: str
    namespace: str
    name: str
    template: Object
    taken: Container[str]

    def pod(self, name: str, owner: tuple[str, str, str], labels: Object) -> Object:
        """A pod of the template. Pods share what is below the spec; nobody writes there."""
        metadata = dict(self.template.get("metadata") or {})
        metadata.pop("generateName", None)
        api_version, kind, owner_name = owner
        metadata |= {
            "name": name,
            "namespace": self.namespace,
            "labels": {**(metadata.get("labels") or {}), **labels},
            "ownerReferences": [
                {
                    "apiVersion": api_version,
                    "kind": kind,
                    "name": owner_name,
                    "uid": _UID,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        }
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": dict(self.template.get("spec") or {})}

    def free_names(self) -> Iterator[str]:
        """`web-1`, `web-2` and so on, without those that are taken."""
        number = 0
        while True:
            number += 1
            if f"{self.namespace}/{self.name}-{number}" not in self.taken:
                yield f"{self.name}-{number}"


def _one_pod(value: Object, namespace: str, name: str) -> Expansion:
    metadata = dict(value.get("metadata") or {})
    notes = []
    if not name and metadata.get("generateName"):
        name = metadata["name"] = f"{metadata['generateName']}1"
        notes.append(f'metadata.generateName makes random names; the pod is called "{name}" here')
    metadata["namespace"] = namespace
    pods = [{**value, "metadata": metadata}]
    return Expansion("Pod", namespace, name, pods, notes=tuple(notes), template_path="")


def _template(kind: str, spec: _Spec) -> Object:
    if not spec.template:
        raise WorkloadError(f"a {kind} needs a pod template", "spec.template")
    for field in ("metadata", "spec"):
        found = spec.template.get(field)
        if found is not None and not isinstance(found, dict):
            raise WorkloadError(f"must be an object, not {go_json(found)}", f"spec.template.{field}")
    if not isinstance((spec.template.get("metadata") or {}).get("labels") or {}, dict):
        raise WorkloadError("must be an object", "spec.template.metadata.labels")
    return spec.template


def _count(path: str, value: int | None, otherwise: int = 1) -> int:
    count = otherwise if value is None else value
    if count < 0:
        raise WorkloadError(f"must be greater than or equal to 0, not {count}", path)
    if count > MAX_PODS:
        raise WorkloadError(f"{count} pods are more than the {MAX_PODS} that are explained at once", path)
    return count


def selector_errors(template: Object, selector: LabelSelector | None) -> tuple[FieldError, ...]:
    """A controller that does not select its own pods is refused by the API."""
    if selector is None:
        return (required("spec.selector", ""),)
    labels = (template.get("metadata") or {}).get("labels") or {}
    if not selector_from_dict(msgspec.to_builtins(selector)).matches(labels):
        return (invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`"),)
    return ()


def template_hash(template: Object) -> str:
    """A short name for a template, the same for equal ones; the controllers' own hashes differ."""
    text = go_json(template).encode()
    # Nobody attacks this name, and loading a cryptographic library takes as long as the rest of the command.
    digest = b"".join(zlib.crc32(text, seed).to_bytes(4) for seed in range(3))
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:10])


def _with_label_selector(value: Object) -> Object:
    """A ReplicationController with its selector in the form of newer kinds; without one it selects its template."""
    spec = value.get("spec")
    if not isinstance(spec, dict):
        return value
    labels = spec.get("selector")
    if not labels:
        template = spec.get("template")
        metadata = template.get("metadata") if isinstance(template, dict) else None
        labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return {**value, "spec": {**spec, "selector": {"matchLabels": labels} if labels else None}}


def _replicas(base: _Base, spec: _Spec) -> Expansion:
    count = _count("spec.replicas", spec.replicas)
    if base.kind == "ReplicationController":
        return _old_replicas(base, spec, count)
    owner_name, labels = base.name, {}
    selector = spec.selector or LabelSelector()
    if base.kind == "Deployment":
        version = template_hash(base.template)
        owner_name, labels = f"{base.name}-{version}", {"pod-template-hash": version}
        selector = msgspec.structs.replace(selector, match_labels={**(selector.match_labels or {}), **labels})
    owner = ReplicaSet(
        metadata=ObjectMeta(name=owner_name, namespace=base.namespace), spec=SelectorSpec(selector=selector)
    )
    names = base.free_names()
    pods = [base.pod(next(names), ("apps/v1", "ReplicaSet", owner_name), labels) for _ in range(count)]
    errors = selector_errors(base.template, spec.selector)
    return Expansion(base.kind, base.namespace, base.name, pods, owner, errors, _nothing(count, "spec.replicas"))


def _old_replicas(base: _Base, spec: _Spec, count: int) -> Expansion:
    labels = spec.selector.match_labels if spec.selector is not None else None
    metadata = ObjectMeta(name=base.name, namespace=base.namespace)
    owner = ReplicationController(metadata=metadata, spec=ReplicationControllerSpec(selector=labels))
    names = base.free_names()
    pods = [base.pod(next(names), ("v1", base.kind, base.name), {}) for _ in range(count)]
    errors = selector_errors(base.template, spec.selector)
    return Expansion(base.kind, base.namespace, base.name, pods, owner, errors, _nothing(count, "spec.replicas"))


def _stateful(base: _Base, spec: _Spec) -> Expansion:
    count = _count("spec.replicas", spec.replicas)
    start = spec.ordinals.start if spec.ordinals else 0
    version = f"{base.name}-{template_hash(base.template)}"
    pods = []
    claims = []
    for ordinal in range(start, start + count):
        name = f"{base.name}-{ordinal}"
        labels = {
            "apps.kubernetes.io/pod-index": str(ordinal),
            "controller-revision-hash": version,
            "statefulset.kubernetes.io/pod-name": name,
        }
        pod = base.pod(name, ("apps/v1", "StatefulSet", base.name), labels)
        pod["spec"]["hostname"] = name
        if spec.service_name:
            pod["spec"]["subdomain"] = spec.service_name
        claims += take_claims(pod, spec.volume_claim_templates or (), base.namespace)
        pods.append(pod)
    owner = StatefulSet(
        metadata=ObjectMeta(name=base.name, namespace=base.namespace),
        spec=SelectorSpec(selector=spec.selector),
    )
    notes = list(_nothing(count, "spec.replicas"))
    if count > 1 and spec.pod_management_policy in ("", "OrderedReady"):
        notes.append("a StatefulSet starts its pods one by one: a pod that does not run holds up all later ones")
    errors = selector_errors(base.template, spec.selector)
    return Expansion(base.kind, base.namespace, base.name, pods, owner, errors, tuple(notes), claims=tuple(claims))


def take_claims(
    pod: Object, templates: Iterable[Object], namespace: str, path: str = "spec.volumeClaimTemplates"
) -> list[Object]:
    """Give a pod of a StatefulSet the volumes of claims of its own, which are returned."""
    name, templates = pod["metadata"]["name"], list(templates)
    pod["spec"]["volumes"] = _with_claims(pod["spec"].get("volumes"), _claims(templates, name, path))
    return [
        {
            "metadata": {"name": f"{made['metadata']['name']}-{name}", "namespace": namespace},
            "spec": made.get("spec") or {},
        }
        for made in templates
    ]


def _with_claims(volumes: Any, claims: list[Object]) -> Any:
    """A pod's volumes with those of its claims, which replace volumes of the same name."""
    if not isinstance(volumes, list | None):
        # What is wrong with them is said when the pod is read.
        return volumes
    names = [claim["name"] for claim in claims]
    return claims + [v for v in volumes or [] if not isinstance(v, dict) or v.get("name") not in names]


def _claims(templates: Iterable[Object], pod: str, path: str) -> list[Object]:
    """The volumes that a StatefulSet gives one of its pods."""
    volumes = []
    for i, template in enumerate(templates):
        metadata = template.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if not isinstance(name, str) or not name:
            raise WorkloadError("a claim template needs a name", f"{path}[{i}].metadata.name")
        volumes.append({"name": name, "persistentVolumeClaim": {"claimName": f"{name}-{pod}"}})
    return volumes


def _job(base: _Base, spec: _Spec) -> Expansion:
    parallel = _count("spec.parallelism", spec.parallelism)
    total = None if spec.completions is None else _count("spec.completions", spec.completions)
    count = parallel if total is None else min(parallel, total)
    notes = []
    if spec.suspend:
        notes.append("the Job is suspended (spec.suspend): its pods are made when it is resumed")
    if total is not None and total > count:
        notes.append(f"the Job runs {count} at a time of {total} pods in all; the first {count} are explained")
    common = {"batch.kubernetes.io/job-name": base.name, "job-name": base.name}
    pods = []
    names = base.free_names()
    for index in range(count):
        labels, name = common, ""
        if spec.completion_mode == "Indexed":
            labels = {**common, "batch.kubernetes.io/job-completion-index": str(index)}
            name = f"{base.name}-{index}"
        pods.append(base.pod(name or next(names), ("batch/v1", "Job", base.name), labels))
    notes.extend(_nothing(count, "spec.parallelism"))
    return Expansion(base.kind, base.namespace, base.name, pods, notes=tuple(notes))


def _nothing(count: int, path: str) -> tuple[str, ...]:
    return () if count else (f"{path} is 0: there are no pods to place",)
