"""The pods that manifests describe: expanded, defaulted and validated as controllers and the API server would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from mooring.api.core.decoding.decoder import unknown_fields
from mooring.api.core.defaults.pods import default_pod
from mooring.api.core.defaults.tolerations import with_default_tolerations
from mooring.api.core.types import Node, ObjectMeta, Pod
from mooring.api.core.validation.pods import validate_pod
from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.node import admission
from mooring.api.resource.views import ResourceClaimStatus
from mooring.api.scheduling.priority_classes import SYSTEM_PRIORITIES
from mooring.api.scheduling.views import PriorityClass
from mooring.api.storage.views import PersistentVolume
from mooring.catalog import CATALOG
from mooring.kube.errors import FieldError, InputError, InvalidObjectError, MooringError, forbidden
from mooring.kube.objects import Object
from mooring.manifests import Document
from mooring.manifests.views import convert
from mooring.placement.devices.generated_claims import with_generated_claims
from mooring.placement.pods import PodInfo
from mooring.placement.snapshot import CLUSTER_WIDE, VIEWS, Snapshot
from mooring.placement.volumes.ephemeral_claims import ephemeral_claims
from mooring.placement.workloads.expansion import Expansion
from mooring.placement.workloads.known_cluster import KnownCluster, NodeSelection
from mooring.runtime.settings import Configuration
from mooring.runway.explain.asked_pods.found_pods import FoundPods, FoundWorkload
from mooring.runway.explain.asked_pods.given import Given, GivenObject
from mooring.runway.explain.asked_pods.unplaced_pods import PodSource, UnplacedPod, remarks, scheduler_unknowns
from mooring.runway.explain.known_cluster import Objects, known_cluster


def read_manifest_pods(
    snapshot: Snapshot, given: Given, namespace: str, home: str, configuration: Configuration
) -> FoundPods:
    """The pods of all manifests in order. Other objects that matter to placement go into the snapshot.

    `namespace` is the one that objects must be in; without it, `home` is where those are that name none.
    """
    known = CATALOG.workloads()
    workloads: list[GivenObject] = []
    names: set[tuple[str, str, str]] = set()
    ignored: list[Document[Object]] = []
    for each in given.objects():
        document, value = each.document, each.document.value
        if (kind := known.get(value["kind"])) is not None:
            if kind.api_version != value["apiVersion"]:
                text = f"apiVersion {value['apiVersion']} is not known; use {kind.api_version}"
                raise document.error(f"{_label(value)}: {text}")
            if (name := _name(value, namespace or home)) in names:
                raise document.error(f"{_label(value)} is there before in namespace {name[1]}; leave one of them out")
            names.add(name)
            workloads.append(each)
        elif not _take_in(snapshot, document, namespace or home):
            ignored.append(document)
    if not workloads:
        if ignored:
            kinds = " and ".join([", ".join(list(known)[:-1]), list(known)[-1]])
            raise ignored[0].error(f"{_label(ignored[0].value)} makes no pods; -f takes {kinds}")
        raise InputError(f"{given}: holds no object that makes pods")
    found = FoundPods()
    cluster = known_cluster(snapshot, configuration, _others(ignored, namespace or home))
    if ignored:
        counts = Counter(str(document.value["kind"]) for document in ignored)
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        found.notes.append(f"left out, as placement does not depend on it: {listed}")
    for each in workloads:
        _read_workload(found, snapshot, each, namespace, home, cluster)
    return found


def workload_pods(snapshot: Snapshot, value: Object, configuration: Configuration) -> FoundPods:
    """The pods of a workload that exists. What the API has accepted is not checked again."""
    found = FoundPods()
    cluster = known_cluster(snapshot, configuration)
    expansion = _expand(value, value["metadata"].get("namespace") or "default", cluster)
    selection = CATALOG.workloads()[value["kind"]].select(value, expansion.namespace, cluster)
    _take_pods(found, snapshot, expansion._replace(errors=()), selection, value, None, checked=True)
    return found


def _others(documents: Sequence[Document[Object]], namespace: str) -> Objects:
    """The objects of manifests that placement does not depend on, by kind."""
    found: dict[tuple[str, str], list[Object]] = {}
    for document in documents:
        value = document.value
        metadata = {"namespace": namespace, **(value.get("metadata") or {})}
        found.setdefault((value["apiVersion"], value["kind"]), []).append({**value, "metadata": metadata})
    return lambda api_version, kind: found.get((api_version, kind), ())


def _expand(value: Object, namespace: str, cluster: KnownCluster) -> Expansion:
    return CATALOG.workloads()[value["kind"]].expand(value, namespace, cluster)


def _label(value: Object) -> str:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f"{value['kind']} {name}" if isinstance(name, str) and name else str(value["kind"])


def _name(value: Object, home: str) -> tuple[str, str, str]:
    """What no two objects share; what is odd about it is complained of where the object is read."""
    metadata = value.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    # A name that the server makes up is another one each time.
    name = given.get("name") or f"{given.get('generateName')} {id(value)}"
    return str(value["kind"]), str(given.get("namespace") or home), str(name)


def _take_in(snapshot: Snapshot, document: Document[Object], namespace: str) -> bool:
    """Take an object that makes no pods into the cluster, if placement depends on it."""
    value = document.value
    wanted = VIEWS.get((value["apiVersion"], value["kind"]))
    if wanted is None:
        return False
    try:
        view = convert(value, wanted)
        metadata: ObjectMeta = view.metadata
        if not metadata.namespace and not isinstance(view, CLUSTER_WIDE):
            view = msgspec.structs.replace(view, metadata=msgspec.structs.replace(metadata, namespace=namespace))
        if isinstance(view, PersistentVolumeClaim):
            snapshot.add_new_claim(view)
        elif isinstance(view, PersistentVolume):
            snapshot.add_new_volume(view)
        else:
            unknown = set(snapshot.unread_kinds)
            snapshot.add(view)
            # What a file brings along says nothing of what else the cluster has.
            snapshot.unread_kinds |= unknown
    except msgspec.ValidationError as error:
        raise document.error(f"{_label(value)}: {message_of(error)}") from None
    except MooringError as error:
        raise document.error(f"{_label(value)}: {error}") from None
    return True


def _read_workload(
    found: FoundPods,
    snapshot: Snapshot,
    each: GivenObject,
    namespace: str,
    home: str,
    cluster: KnownCluster,
) -> None:
    document, value = each.document, each.document.value
    prefix = ""
    try:
        expansion = _expand(value, namespace or home, cluster)
        prefix = f"{expansion.template_path}." if expansion.template_path else ""
        if namespace and expansion.namespace != namespace:
            raise InputError(
                f'the namespace from the provided object "{expansion.namespace}" does not match the namespace '
                f'"{namespace}"; pass -n {expansion.namespace}'
            )
        found.notes.extend(f"{_label(value)}: {note}" for note in _unknown(expansion, prefix))
        selection = CATALOG.workloads()[value["kind"]].select(value, expansion.namespace, cluster)
        _take_pods(found, snapshot, expansion, selection, value, each.file)
    except msgspec.ValidationError as error:
        raise document.error(f"{_label(value)}: {message_of(error)}") from None
    except InvalidObjectError as error:
        raise document.error(f"{_label(value)}: {prefix}{error.errors[0]}") from None
    except MooringError as error:
        raise document.error(f"{_label(value)}: {error}") from None


def _take_pods(
    found: FoundPods,
    snapshot: Snapshot,
    expansion: Expansion,
    selection: NodeSelection | None,
    value: Object,
    file: str | None,
    *,
    checked: bool = False,
) -> None:
    replaced = _replaced(snapshot, expansion)
    found.notes.extend(replaced)
    if expansion.owner is not None:
        snapshot.add(expansion.owner)
    for node in expansion.new_nodes:
        snapshot.add(convert(node, Node))
    found.notes.extend(f"{_label(value)}: {note}" for note in expansion.notes)
    source = PodSource(
        expansion.kind,
        expansion.namespace,
        expansion.name,
        expansion.template_path,
        file,
        value,
        live=checked or bool(replaced),
    )
    kind = CATALOG.workloads()[value["kind"]]
    for pod in expansion.pods:
        path = kind.template_path(value, pod["metadata"].get("labels") or {})
        found.take_name(pod["metadata"], expansion)
        found.pods.append(_unplaced(snapshot, expansion, pod, source._replace(template_path=path), checked=checked))
    for claim in (*expansion.claims, *(made for pod in expansion.pods for made in ephemeral_claims(pod))):
        snapshot.add_new_claim(convert(claim, PersistentVolumeClaim))
    errors = () if expansion.pods else expansion.errors
    waits = "" if expansion.errors else expansion.waits
    if errors or waits or selection is not None:
        found.workloads.append(FoundWorkload(source, selection, errors, waits))


def _unknown(expansion: Expansion, prefix: str) -> list[str]:
    found = unknown_fields("Pod", expansion.pods[0]) if expansion.pods else []
    return [line.replace('"', f'"{prefix}', 1) + "; the API drops it" for line in found]


def _replaced(snapshot: Snapshot, expansion: Expansion) -> list[str]:
    """Take the pods that the workload has in the cluster out, as if it had not been placed yet."""
    cluster = snapshot.cluster
    keys = [p.key for p in cluster.pods.values() if not p.finished and _belongs(p, expansion)]
    for key in keys:
        _release_claims(snapshot, cluster.pods[key])
        cluster.remove_pod(key)
    if not keys:
        return []
    what = "is" if expansion.kind == "Pod" else f"has {len(keys)} pod{'s' if len(keys) > 1 else ''}"
    return [
        f"{expansion.kind} {expansion.namespace}/{expansion.name} {what} in the cluster already; "
        "explained as if not yet placed"
    ]


def _release_claims(snapshot: Snapshot, pod: PodInfo) -> None:
    """Give back the devices of claims that were made for a pod, or that no other pod uses."""
    devices = snapshot.cluster.devices
    for reference in pod.claims:
        claim = devices.claims.get(f"{pod.namespace}/{reference.claim}")
        if claim is None:
            continue
        if reference.generated:
            devices.remove(claim)
        elif all(user.uid == pod.uid for user in claim.status.reserved_for or ()):
            devices.set(msgspec.structs.replace(claim, status=ResourceClaimStatus()))


def _belongs(pod: PodInfo, expansion: Expansion) -> bool:
    if pod.namespace != expansion.namespace:
        return False
    if expansion.kind == "Pod":
        return pod.name == expansion.name
    if pod.owner is None:
        return False
    return CATALOG.workloads()[expansion.kind].owns(expansion, pod.owner)


def _unplaced(
    snapshot: Snapshot, expansion: Expansion, pod: Object, source: PodSource, *, checked: bool = False
) -> UnplacedPod:
    pod = with_generated_claims(snapshot.cluster.devices, default_pod(pod))
    notes, refused = _set_priority(snapshot, pod)
    notes += remarks(pod["spec"], snapshot.cluster.slots)
    refused = [] if checked else refused
    refused += _admit(snapshot, pod)
    errors = [] if checked else [*expansion.errors, *_prefixed(validate_pod(pod), source.template_path)]
    errors += _prefixed(refused, source.template_path)
    # After validation, as admission does it to pods that are well-formed.
    if not errors:
        pod["spec"] = with_default_tolerations(pod["spec"])
    name = pod["spec"].get("runtimeClassName")
    if name is not None and (overhead := pod["spec"].get("overhead")):
        added = " and ".join(f"{amount} {resource}" for resource, amount in overhead.items())
        notes.append(f"RuntimeClass {name} adds {added} to what the pod asks for")
    unknowns = scheduler_unknowns(pod["spec"])
    if name is not None and name not in snapshot.runtime_classes and "RuntimeClass" in snapshot.unread_kinds:
        unknowns.append(f"what RuntimeClass {name} adds to the pod is not known, as no RuntimeClass was read")
    return UnplacedPod(pod, convert(pod, Pod), source, errors, notes, unknowns)


def _prefixed(errors: list[FieldError], path: str) -> list[FieldError]:
    return [e._replace(path=f"{path}.{e.path}") for e in errors] if path else errors


def _admit(snapshot: Snapshot, pod: Object) -> list[FieldError]:
    """Do to the pod what its RuntimeClass does, as admission does; why it is refused."""
    spec = pod["spec"]
    name, found = spec.get("runtimeClassName"), None
    path = "spec.overhead" if name is None else "spec.runtimeClassName"
    if name is not None:
        known = snapshot.runtime_classes.get(name)
        if known is None:
            if "RuntimeClass" in snapshot.unread_kinds:
                return []
            return [forbidden(path, admission.not_found(name))]
        found = {"overhead": known.overhead, "scheduling": known.scheduling}
    try:
        pod["spec"] = admission.with_runtime_class(spec, found) if found is not None else spec
        admission.check_overhead(pod["spec"], found)
    except MooringError as error:
        return [forbidden(path, error.message)]
    return []


def _set_priority(snapshot: Snapshot, pod: Object) -> tuple[list[str], list[FieldError]]:
    """Give the pod the priority of its class, as admission does: what there is to note, and why it is refused."""
    spec, classes = pod["spec"], snapshot.priority_classes
    name = spec.get("priorityClassName")
    found: PriorityClass | None = None
    if name:
        found = classes.get(name)
        if found is None and name in SYSTEM_PRIORITIES:
            found = PriorityClass(value=SYSTEM_PRIORITIES[name])
        if found is None and "priority" in spec:
            text = f"no PriorityClass with name {name} was found; spec.priority {spec['priority']} is taken as given"
            return [text], []
        if found is None:
            raise InputError(
                f"no PriorityClass with name {name} was found; add priorityclasses to what kubectl get writes into the "
                "snapshot, or give the PriorityClass with -f",
                "spec.priorityClassName",
            )
    else:
        # Of several default classes the one with the lowest value counts.
        found = min((c for c in classes.values() if c.global_default), key=lambda c: c.value, default=None)
    if found is None:
        return [], []
    policy = found.preemption_policy or "PreemptLowerPriority"
    refused = [
        forbidden(f"spec.{field}", f"must not be {spec[field]}, as the PriorityClass says {wanted}")
        for field, wanted in (("priority", found.value), ("preemptionPolicy", policy))
        if spec.get(field, wanted) != wanted
    ]
    spec |= {"priority": found.value, "preemptionPolicy": policy}
    return [], refused


def message_of(error: msgspec.ValidationError) -> str:
    """msgspec's "Expected `int`, got `str` - at `$.spec.replicas`" as `spec.replicas: expected int, got str`."""
    problem, _, place = str(error).partition(" - at ")
    path = place.strip("`").removeprefix("$").removeprefix(".")
    problem = problem.replace("`", "").replace("Expected", "expected")
    return f"{path}: {problem}" if path else problem
