"""Pods as the engine sees them, with everything that it derives from a pod's spec: `compiler.py` makes them."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from mooring.api.core.types import (
    LabelSelector,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    Toleration,
    TopologySpreadConstraint,
)
from mooring.api.core.types import NodeSelectorTerm as NodeSelectorTermView
from mooring.kube.errors import SelectorError
from mooring.kube.nodeselectors import NodeSelectorTerm, node_selector_term
from mooring.kube.selectors import NOTHING, Requirement, Selector, selector_from_dict
from mooring.placement.devices.pod_claims import PodClaim, pod_claims
from mooring.placement.plugins.resources import PodResources, Requests, pod_resources
from mooring.placement.verdicts import ERROR, UNRESOLVABLE, Rejection
from mooring.placement.volumes.pod_volumes import PodVolume, pod_volumes

HOSTNAME = "kubernetes.io/hostname"
DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"
AFFINITY_CONFLICT = "pod affinity terms conflict"


class Term(NamedTuple):
    """A pod affinity term with its namespaces resolved as far as the pod alone can."""

    selector: Selector
    namespaces: frozenset[str]
    namespace_selector: Selector
    topology_key: str

    def matches(self, namespace: str, labels: dict[str, str], namespace_labels: dict[str, str]) -> bool:
        if namespace in self.namespaces or self.namespace_selector.matches(namespace_labels):
            return self.selector.matches(labels)
        return False


class Constraint(NamedTuple):
    """A topology spread constraint with its selector compiled and its defaults filled in."""

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int
    honor_affinity: bool
    honor_taints: bool


class NodeTerms(NamedTuple):
    """The node selector and the required node affinity of a pod: what `NodeAffinity` filters by."""

    node_selector: tuple[tuple[str, str], ...]
    terms: tuple[NodeSelectorTerm, ...] | None
    # The node names that every term asks for, as the terms of a DaemonSet's pods do; None where some term does not.
    named: frozenset[str] | None

    def matches(self, labels: dict[str, str], name: str) -> bool:
        """Whether a node of these labels and this name is selected."""
        for key, value in self.node_selector:
            if labels.get(key) != value:
                return False
        if self.terms is None:
            return True
        for term in self.terms:  # noqa: SIM110 - a generator here would cost as much as what it asks
            if term.matches(labels, name):
                return True
        return False


class HostPort(NamedTuple):
    ip: str
    protocol: str
    port: int


class Owner(NamedTuple):
    kind: str
    api_version: str
    name: str


class CompiledTemplate:
    """Everything the engine derives from a pod's spec, namespace and, where its selectors need them, labels."""

    __slots__ = (
        "affinity_preferred",
        "affinity_required",
        "anti_preferred",
        "anti_required",
        "carries_terms",
        "containers",
        "has_spread",
        "images",
        "node_preferred",
        "node_terms",
        "only_node",
        "plain",
        "ports",
        "rejection",
        "resources",
        "score_error",
        "spread_hard",
        "spread_soft",
        "tolerations",
    )

    def __init__(self, pod: Pod) -> None:
        spec = pod.spec
        affinity = spec.affinity
        namespace = pod.metadata.namespace
        labels = pod.metadata.labels or {}
        self.resources: PodResources = pod_resources(pod)
        self.tolerations: tuple[Toleration, ...] = spec.tolerations or ()
        self.node_terms = _node_terms(spec)
        node_affinity = affinity.node_affinity if affinity else None
        preferred = (node_affinity.preferred if node_affinity else None) or ()
        self.node_preferred = tuple(
            (term.weight, node_selector_term(msgspec.to_builtins(term.preference))) for term in preferred
        )
        self.ports = _host_ports(spec)
        containers = (spec.init_containers or ()) + (spec.containers or ())
        self.containers = len(containers)
        self.images = tuple(_tagged(c.image) for c in containers)
        pod_affinity = affinity.pod_affinity if affinity else None
        pod_anti = affinity.pod_anti_affinity if affinity else None
        unread: list[str] = []
        self.affinity_required = _required(pod_affinity, namespace, "requiredAffinityTerms", unread)
        self.anti_required = _required(pod_anti, namespace, "requiredAntiAffinityTerms", unread)
        self.affinity_preferred = _preferred(pod_affinity, namespace, "preferredAffinityTerms", unread)
        self.anti_preferred = _preferred(pod_anti, namespace, "preferredAntiAffinityTerms", unread)
        constraints = spec.topology_spread_constraints or ()
        self.has_spread = bool(constraints)
        self.spread_hard, hard_error = _constraints(constraints, DO_NOT_SCHEDULE, labels)
        self.spread_soft, soft_error = _constraints(constraints, SCHEDULE_ANYWAY, labels)
        self.rejection = self._find_rejection(hard_error, unread)
        self.score_error = self._find_score_error(soft_error)
        named = None if self.node_terms is None else self.node_terms.named
        # Whether nothing but filters and scores over all nodes decides where such a pod goes.
        self.plain = not (named is not None or self.rejection or self.score_error)
        # The one node that such a pod can go to, as a DaemonSet's pods do.
        self.only_node = next(iter(named)) if named is not None and len(named) == 1 else ""
        self.carries_terms = bool(
            self.affinity_required or self.anti_required or self.affinity_preferred or self.anti_preferred
        )

    def _find_rejection(self, hard_error: str, unread: list[str]) -> Rejection | None:
        """What fails before filters, in the order in which the plugins are asked."""
        if self.node_terms is not None and self.node_terms.named == frozenset():
            return Rejection("NodeAffinity", UNRESOLVABLE, AFFINITY_CONFLICT)
        if hard_error:
            where = "get constraints from pod: obtaining pod's hard topology spread constraints"
            text = f'running PreFilter plugin "PodTopologySpread": {where}: {hard_error}'
            return Rejection("PodTopologySpread", ERROR, text)
        if unread:
            return Rejection("InterPodAffinity", UNRESOLVABLE, f"parsing pod: {_aggregate(unread)}")
        return None

    def _find_score_error(self, soft_error: str) -> str:
        """Preferences that cannot be read are accepted by the API and fail every attempt to score."""
        errors = [f"[{i}].{t.error}" for i, (weight, t) in enumerate(self.node_preferred) if weight and t.error]
        if errors:
            return f'running PreScore plugin "NodeAffinity": {_aggregate(errors)}'
        if soft_error:
            where = "calculating preScoreState: obtaining pod's soft topology spread constraints"
            return f'running PreScore plugin "PodTopologySpread": {where}: {soft_error}'
        return ""


class PodInfo:
    """One pod, bound or incoming."""

    __slots__ = (
        "claims",
        "gates",
        "key",
        "labels",
        "name",
        "namespace",
        "node_name",
        "nominated",
        "owner",
        "phase",
        "preempted",
        "preempts",
        "priority",
        "start_time",
        "template",
        "terminating",
        "uid",
        "volumes",
    )

    def __init__(self, pod: Pod, template: CompiledTemplate) -> None:
        meta = pod.metadata
        self.name = meta.name
        self.namespace = meta.namespace
        self.key = f"{meta.namespace}/{meta.name}"
        self.uid = meta.uid
        self.labels: dict[str, str] = meta.labels or {}
        self.node_name = pod.spec.node_name
        self.nominated = pod.status.nominated_node_name
        self.phase = pod.status.phase
        self.priority = pod.spec.priority or 0
        self.preempts = pod.spec.preemption_policy != "Never"
        self.start_time = pod.status.start_time
        self.terminating = meta.deletion_timestamp is not None
        self.preempted = self.terminating and any(
            c.type == "DisruptionTarget" and c.status == "True" and c.reason == "PreemptionByScheduler"
            for c in pod.status.conditions or ()
        )
        self.gates = tuple(g.name for g in pod.spec.scheduling_gates or ())
        self.owner: Owner | None = None
        for reference in meta.owner_references or ():
            if reference.controller:
                self.owner = Owner(reference.kind, reference.api_version, reference.name)
                break
        self.template = template
        self.claims: tuple[PodClaim, ...] = pod_claims(pod) if pod.spec.resource_claims else ()
        volumes = pod.spec.volumes
        self.volumes: tuple[PodVolume, ...] = pod_volumes(volumes, meta.name) if volumes else ()

    @property
    def requests(self) -> Requests:
        return self.template.resources.fit

    @property
    def finished(self) -> bool:
        """Pods that have ended hold nothing and are not in the scheduler's cache at all."""
        return self.phase in ("Succeeded", "Failed")


def _tagged(image: str) -> str:
    return image + ":latest" if image.rfind(":") <= image.rfind("/") else image


def _host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    sidecars = tuple(c for c in spec.init_containers or () if c.restart_policy == "Always")
    return tuple(
        HostPort(p.host_ip or "0.0.0.0", p.protocol or "TCP", p.host_port)
        for c in sidecars + (spec.containers or ())
        for p in c.ports or ()
        if p.host_port > 0
    )


def _node_terms(spec: PodSpec) -> NodeTerms | None:
    node_affinity = spec.affinity.node_affinity if spec.affinity else None
    required = node_affinity.required if node_affinity else None
    if required is None and spec.node_selector is None:
        return None
    terms = None
    named = None
    if required is not None:
        views = required.node_selector_terms or ()
        terms = tuple(node_selector_term(msgspec.to_builtins(t)) for t in views)
        named = _named(views)
    return NodeTerms(tuple(sorted((spec.node_selector or {}).items())), terms, named)


def _named(terms: tuple[NodeSelectorTermView, ...]) -> frozenset[str] | None:
    names: frozenset[str] | None = None
    for term in terms:
        sets = [
            frozenset(r.values or ())
            for r in term.match_fields or ()
            if r.key == "metadata.name" and r.operator == "In"
        ]
        if not sets:
            return None
        names = (names or frozenset()) | frozenset.intersection(*sets)
    return names


def view_selector(view: LabelSelector | None) -> Selector:
    return NOTHING if view is None else selector_from_dict(msgspec.to_builtins(view))


def _term(term: PodAffinityTerm, namespace: str) -> Term:
    namespaces = frozenset(term.namespaces or ())
    if not namespaces and term.namespace_selector is None:
        namespaces = frozenset((namespace,))
    return Term(
        view_selector(term.label_selector), namespaces, view_selector(term.namespace_selector), term.topology_key
    )


def _aggregate(errors: list[str]) -> str:
    return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"


def _required(affinity: PodAffinity | None, namespace: str, name: str, unread: list[str]) -> tuple[Term, ...]:
    """The required terms; none of them where one cannot be read, which is added to `unread`."""
    try:
        return tuple(_term(t, namespace) for t in (affinity.required or () if affinity else ()))
    except SelectorError as error:
        unread.append(f"{name}: {error}")
        return ()


def _preferred(
    affinity: PodAffinity | None, namespace: str, name: str, unread: list[str]
) -> tuple[tuple[int, Term], ...]:
    terms = (affinity.preferred if affinity else None) or ()
    try:
        return tuple((t.weight, _term(t.pod_affinity_term, namespace)) for t in terms)
    except SelectorError as error:
        unread.append(f"{name}: {error}")
        return ()


def _constraints(
    constraints: tuple[TopologySpreadConstraint, ...], action: str, labels: dict[str, str]
) -> tuple[tuple[Constraint, ...], str]:
    """The constraints with one action, and why they cannot be read."""
    try:
        return tuple(_constraint(c, labels) for c in constraints if c.when_unsatisfiable == action), ""
    except SelectorError as error:
        return (), str(error)


def _constraint(constraint: TopologySpreadConstraint, labels: dict[str, str]) -> Constraint:
    compiled = view_selector(constraint.label_selector)
    keys = [key for key in constraint.match_label_keys or () if key in labels]
    compiled = compiled.with_requirements(Requirement(key, "In", (labels[key],)) for key in keys)
    return Constraint(
        max_skew=constraint.max_skew,
        topology_key=constraint.topology_key,
        selector=compiled,
        min_domains=1 if constraint.min_domains is None else constraint.min_domains,
        honor_affinity=(constraint.node_affinity_policy or "Honor") == "Honor",
        honor_taints=(constraint.node_taints_policy or "Ignore") == "Honor",
    )
