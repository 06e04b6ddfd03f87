"""Everything that Mooring can run, in one list: the control plane that a bare API server lacks, nodes, and features.

A feature takes part with one line here. Nothing is loaded before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from mooring.builtin.feature import CONTROL_PLANE
from mooring.features.autoscaler.feature import AUTOSCALER
from mooring.features.groups.feature import GROUPS
from mooring.features.hosts.feature import HOSTS
from mooring.features.installation.feature import INSTALLATION
from mooring.features.machines.feature import MACHINES
from mooring.features.notebooks.feature import NOTEBOOKS
from mooring.features.workspaces.feature import SIMULATED_CLAIMS, WORKSPACES
from mooring.kube.objects import Object
from mooring.nodes.feature import NODES
from mooring.runtime.feature import Feature

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
    from mooring.placement.node_pools import NodePoolKinds
    from mooring.placement.workloads.kinds import WorkloadKind
    from mooring.runtime.controller import Controller
    from mooring.runtime.pool_report import PoolReport
    from mooring.runtime.settings import Setting
    from mooring.runtime.webhooks.model import Conversion, Webhook

FEATURES: Final[tuple[Feature, ...]] = (
    CONTROL_PLANE,
    NODES,
    GROUPS,
    WORKSPACES,
    SIMULATED_CLAIMS,
    HOSTS,
    MACHINES,
    AUTOSCALER,
    NOTEBOOKS,
    INSTALLATION,
)


class WorkloadKinds(Mapping[str, "WorkloadKind"]):
    """Kinds by their names. Those of a feature are loaded when one of them is asked for."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self._parts = {name: feature.workloads for feature in features for name in feature.workloads.names}
        self._loaded: dict[str, WorkloadKind] = {}

    def __getitem__(self, kind: str) -> WorkloadKind:
        if kind not in self._loaded:
            self._loaded |= {each.kind: each for each in self._parts[kind].all(lambda part: part.kind)}
        return self._loaded[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


_workloads: Final = cache(WorkloadKinds)


class Catalog:
    """Some features as the commands ask about them."""

    def __init__(self, features: Collection[Feature] = FEATURES) -> None:
        self.features = tuple(features)

    @property
    def controller_names(self) -> tuple[str, ...]:
        return tuple(name for feature in self.features for name in feature.controllers.names)

    @property
    def webhook_names(self) -> tuple[str, ...]:
        return tuple(name for feature in self.features for name in feature.webhooks.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Every word that `--controllers` takes."""
        return (*self.controller_names, *self.webhook_names)

    def controllers(self, names: Collection[str] | None = None) -> tuple[Controller, ...]:
        """The controllers of these names, or all of them."""
        chosen = frozenset(self.names if names is None else names)
        return tuple(
            each for feature in self.features for each in feature.controllers.chosen(chosen, lambda part: part.name)
        )

    def embedded_controllers(self, names: Collection[str]) -> tuple[Controller, ...]:
        """The same as `mooring up` runs them: those with a Lease of their own stand in while nobody else holds it."""
        from mooring.api.kinds import Key
        from mooring.workloads.stand_in import stand_in

        leases = self.leases
        return tuple(
            stand_in(each, Key(*leases[each.name])) if each.name in leases else each for each in self.controllers(names)
        )

    def webhooks(self, names: Collection[str] | None = None) -> tuple[Webhook, ...]:
        """The webhooks that these names switch on, or all of them."""
        chosen = frozenset(self.names if names is None else names)
        return tuple(
            each for feature in self.features for each in feature.webhooks.chosen(chosen, lambda part: part.switch)
        )

    def conversions(self) -> tuple[Conversion, ...]:
        """Conversions between versions of our own kinds. They are part of the API, so nobody switches them off."""
        from mooring.runtime.webhooks.model import Conversion

        resources = (each for feature in self.features for each in feature.resources())
        return tuple(Conversion.of(each) for each in resources if each.is_converted)

    def definitions(self, names: Collection[str] | None = None) -> tuple[Object, ...]:
        """The definitions of our own kinds that the chosen controllers and webhooks work on."""
        from mooring.api.crds.resource import definition

        return tuple(definition(each) for each in self.resources(names))

    def resources(self, names: Collection[str] | None = None) -> tuple[CustomResource, ...]:
        chosen = frozenset(self.names if names is None else names)
        return tuple(each for feature in self.features if feature.serves_kinds(chosen) for each in feature.resources())

    def rules(self, names: Collection[str] | None = None) -> tuple[Object, ...]:
        """Roles and bindings for those who use the chosen features from outside."""
        chosen = frozenset(self.names if names is None else names)
        return tuple(each for feature in self.features if feature.serves_kinds(chosen) for each in feature.rules())

    def custom_kinds(self) -> frozenset[tuple[str, str]]:
        """Our own kinds in every version, which a cluster serves only where their definitions are, by apiVersion."""
        own = (each for feature in self.features for each in feature.resources())
        return frozenset((each.api_version(version), each.kind) for each in own for version in each.versions)

    def feature_of(self, api_version: str, kind: str) -> Feature | None:
        """The feature whose kind this is."""
        for feature in self.features:
            for each in feature.resources():
                if each.kind == kind and any(each.api_version(version) == api_version for version in each.versions):
                    return feature
        return None

    def workloads(self) -> Mapping[str, WorkloadKind]:
        """The kinds whose objects make pods, by name."""
        return _workloads(self.features)

    def node_pools(self, is_there: Callable[[str], bool] = lambda kind: True) -> tuple[NodePoolKinds, ...]:
        """The kinds whose objects bring nodes, of which there may be some; nothing else is loaded."""
        return tuple(
            each
            for feature in self.features
            if any(map(is_there, feature.node_pools.names))
            for each in feature.node_pools.all(lambda part: part.kind)
        )

    def pool_report(self) -> PoolReport:
        """What is told of pools that are scaled."""
        (report,) = (feature.pool_report for feature in self.features if feature.pool_report is not None)
        return report()

    def progress(self, obj: Object) -> str:
        """What an object still waits for; empty when it is there, or when nobody knows."""
        for feature in self.features:
            if (told := feature.progress.get((obj["apiVersion"], obj["kind"]))) is not None:
                return told(obj)
        return ""

    @property
    def gates(self) -> dict[str, bool]:
        """Every feature gate, and whether it is open when nobody says anything."""
        return {gate: is_open for feature in self.features for gate, is_open in feature.gates.items()}

    @property
    def refused_gates(self) -> dict[str, str]:
        """Gates that are known and cannot be opened, and why."""
        return {gate: why for feature in self.features for gate, why in feature.refused_gates.items()}

    @property
    def settings(self) -> tuple[Setting[Any], ...]:
        """The flags of all features."""
        return tuple(setting for feature in self.features for setting in feature.settings)

    @property
    def workload_settings(self) -> tuple[Setting[Any], ...]:
        """The flags that decide what pods a workload comes to."""
        return tuple(setting for feature in self.features for setting in feature.workload_settings)

    @property
    def conflicts(self) -> dict[str, str]:
        """The controllers that conflict with a program of a Kubernetes control plane, with that program."""
        return {name: program for feature in self.features for name, program in feature.conflicts.items()}

    @property
    def upstream(self) -> dict[str, str]:
        """The controllers that another product has too, with the Deployment that runs it."""
        return {name: deployment for feature in self.features for name, deployment in feature.upstream.items()}

    @property
    def leases(self) -> dict[str, tuple[str, str]]:
        """The Leases of the controllers that have one of their own, as namespace and name."""
        return {name: lease for feature in self.features for name, lease in feature.leases.items()}

    @property
    def embedded_only(self) -> frozenset[str]:
        """The names that run on the embedded cluster alone."""
        return frozenset(name for feature in self.features for name in feature.embedded_only)

    @property
    def external(self) -> tuple[str, ...]:
        """The names that run on an external cluster by default."""
        on_request = (name for feature in self.features for name in feature.on_request)
        left_out = {*self.conflicts, *on_request, *self.embedded_only}
        return tuple(name for name in self.names if name not in left_out)


CATALOG: Final = Catalog()
