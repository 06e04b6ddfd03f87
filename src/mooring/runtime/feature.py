"""A feature as declared: everything that the rest of the product must know of it, in one place.

`features/NAME/feature.py` holds `FEATURE = Feature(...)` and `catalog` one line for it. CustomResourceDefinitions and
access rules, `mooring up`, `run` and their `--controllers`, `explain` and `plan` follow from the declaration.

Parts have names that are known without loading them: the process that checks `--controllers` and the API server of
`mooring up` must start fast and load nothing that they do not run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
    from mooring.placement.node_pools import NodePoolKinds
    from mooring.placement.workloads.kinds import WorkloadKind
    from mooring.runtime.controller import Controller
    from mooring.runtime.pool_report import PoolReport
    from mooring.runtime.settings import Configuration, Setting
    from mooring.runtime.webhooks.model import Webhook

T = TypeVar("T")

Progress = Callable[[Object], str]
"""What an object still waits for, in one sentence; empty when it is there."""


def _nothing() -> tuple[()]:
    return ()


def _no_contradiction(configuration: Configuration) -> str:
    return ""


@dataclass(frozen=True)
class Parts(Generic[T]):
    """Some parts of a feature by their names, and how they are loaded."""

    names: tuple[str, ...] = ()
    load: Callable[[], tuple[T, ...]] = _nothing

    def chosen(self, names: Mapping[str, Any] | frozenset[str], name_of: Callable[[T], str]) -> tuple[T, ...]:
        """The parts whose names are among `names`; nothing is loaded where none is."""
        if not any(name in names for name in self.names):
            return ()
        return tuple(part for part in self.all(name_of) if name_of(part) in names)

    def all(self, name_of: Callable[[T], str]) -> tuple[T, ...]:
        parts = self.load()
        found = tuple(dict.fromkeys(map(name_of, parts)))
        if found != self.names:
            raise MooringError(
                f"a feature declares {', '.join(self.names)} and has {', '.join(found)}; name them alike"
            )
        return parts


@dataclass(frozen=True, eq=False)
class Feature:
    """One feature. What it does not have is left out."""

    name: str
    # Its own kinds. Definitions, conversions between versions and what serves them follow.
    resources: Callable[[], tuple[CustomResource, ...]] = _nothing
    # Roles and bindings for those who use the feature and are none of its controllers, such as agents.
    rules: Callable[[], tuple[Object, ...]] = _nothing
    # By the words that `--controllers` takes: `Controller.name` and `Webhook.switch`.
    controllers: Parts[Controller] = Parts()
    webhooks: Parts[Webhook] = Parts()
    # Kinds whose objects make pods, by the name of the kind: what `explain` and snapshots know of them.
    workloads: Parts[WorkloadKind] = Parts()
    # Kinds whose objects bring nodes, for `explain` and `plan`: a pod that would suit them is told what they wait for.
    node_pools: Parts[NodePoolKinds] = Parts()
    # What `mooring pools` tells, of the one feature that scales pools.
    pool_report: Callable[[], PoolReport] | None = None
    # By apiVersion and kind, for `plan`.
    progress: Mapping[tuple[str, str], Progress] = field(default_factory=dict)
    # Controllers that take the place, in a plan, of what a plan does without, such as garbage collection.
    plan_controllers: Callable[[], tuple[Controller, ...]] = _nothing
    # The features, by name, in whose plans this one takes part, with its `plan_controllers` alone.
    joins: frozenset[str] = frozenset()
    # Features that a plan with objects of this one needs too.
    needs: tuple[Feature, ...] = ()
    # Feature gates, and whether each is open by default.
    gates: Mapping[str, bool] = field(default_factory=dict)
    # Gates that another product has for the same kinds and this one does not, and why.
    refused_gates: Mapping[str, str] = field(default_factory=dict)
    # Flags of `up`, `run` and `plan`.
    settings: tuple[Setting[Any], ...] = ()
    # Those of them that decide what pods a workload comes to: flags of `explain` too.
    workload_settings: tuple[Setting[Any], ...] = ()
    # What is wrong with gates and settings together, in one sentence; empty where nothing is.
    contradiction: Callable[[Configuration], str] = _no_contradiction
    # Conflicting controllers: the program of a Kubernetes control plane that has the same controller, by its name.
    conflicts: Mapping[str, str] = field(default_factory=dict)
    # The Deployment of another product that has the same controller, by its name. `mooring run` looks for it first.
    upstream: Mapping[str, str] = field(default_factory=dict)
    # Parts that conflict with nothing but run on an external cluster only when they are named.
    on_request: frozenset[str] = frozenset()
    # Controllers of which a cluster has one at work, by the Lease that says which, as namespace and name. `mooring run`
    # elects by it, and `mooring up` leaves the work to whoever else holds it.
    leases: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # Parts that run on the embedded cluster alone; kinds that only they bring are defined nowhere else.
    embedded_only: frozenset[str] = frozenset()
    # Parts that work beside another product's controllers of the same kinds; alone they bring no definitions.
    add_ons: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that `--controllers` can switch."""
        return (*self.controllers.names, *self.webhooks.names)

    def serves_kinds(self, chosen: frozenset[str]) -> bool:
        """Whether its own kinds are served when these parts were chosen."""
        return any(name in chosen for name in self.names if name not in self.add_ons)
