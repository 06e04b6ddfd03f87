"""ByoCluster: where the API server of a cluster of own hosts is."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mooring.api.core.types import View
from mooring.api.crds.markers import Int32, Markers
from mooring.api.meta import AnnotatedMeta
from mooring.features.hosts.api.conditions import Conditions


class APIEndpoint(View, frozen=True):
    """Where an API server answers."""

    host: Annotated[str, Markers("The name or address of the API server.", required=True)] = ""
    port: Annotated[Int32, Markers("The port of the API server; 6443 if 0.", required=True)] = 0


class ByoClusterSpec(View, frozen=True):
    control_plane_endpoint: Annotated[APIEndpoint | None, Markers("Where the API server answers.")] = None
    bundle_lookup_base_registry: Annotated[str, Markers("The registry that bundles of Kubernetes come from.")] = ""


class FailureDomain(View, frozen=True):
    """A part of the infrastructure that fails as one."""

    control_plane: Annotated[bool, Markers("Whether a control plane may run there.")] = False
    attributes: Annotated[dict[str, str], Markers("Anything else that is known of it.")] = msgspec.field(
        default_factory=dict
    )


class ByoClusterStatus(View, frozen=True):
    ready: Annotated[bool, Markers("Whether machines may be made.")] = False
    conditions: Annotated[Conditions, Markers("Ready: machines may be made, or what that waits for.")] = ()
    failure_domains: Annotated[dict[str, FailureDomain], Markers("Never set; upstream has it.")] = msgspec.field(
        default_factory=dict
    )


class ByoCluster(View, frozen=True):
    """A cluster whose nodes are own hosts."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[ByoClusterSpec, Markers("Where its API server is.")] = ByoClusterSpec()
    status: Annotated[ByoClusterStatus, Markers("What was seen last.")] = ByoClusterStatus()
