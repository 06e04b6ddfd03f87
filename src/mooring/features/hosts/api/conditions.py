"""Condition types and reasons of hosts and of what claims them. They are upstream's, but for those marked as ours."""

from __future__ import annotations

from typing import Annotated, Final

from mooring.api.core.types import View
from mooring.api.crds.markers import Markers, Time
from mooring.api.meta import Condition

# Of a ByoHost, written by its agent.
NODE_BOOTSTRAPPED: Final = "K8sNodeBootstrapSucceeded"
COMPONENTS_INSTALLED: Final = "K8sComponentsInstallationSucceeded"
BOOTSTRAP_SECRET_UNAVAILABLE: Final = "BootstrapDataSecretUnavailable"
INSTALLATION_SECRET_UNAVAILABLE: Final = "K8sInstallationSecretUnavailable"
BOOTSTRAP_FAILED: Final = "CloudInitExecutionFailed"
COMPONENTS_INSTALLING: Final = "K8sComponentsInstalling"
INSTALLATION_FAILED: Final = "K8sComponentsInstallationFailed"

# Of a ByoHost, ours. HostHealthy: its agent is heard of. HostClean: nothing of an earlier claim is left on it; the
# agent says True, and the controller False where it released the host without the agent.
HOST_HEALTHY: Final = "HostHealthy"
HEARTBEAT_FRESH: Final = "HeartbeatFresh"
HEARTBEAT_MISSING: Final = "HeartbeatMissing"
HEARTBEAT_STALE: Final = "HeartbeatStale"
HOST_CLEAN: Final = "HostClean"
CLEANED: Final = "Cleaned"
FORCED_RELEASE: Final = "ForcedRelease"
CLEANUP_FAILED: Final = "CleanupFailed"

# Of a ByoMachine.
BYOHOST_READY: Final = "BYOHostReady"
WAITING_FOR_CLUSTER: Final = "WaitingForClusterInfrastructure"
WAITING_FOR_BOOTSTRAP_SECRET: Final = "WaitingForBootstrapDataSecret"
WAITING_FOR_NODE: Final = "WaitingForNodeRef"
HOSTS_UNAVAILABLE: Final = "BYOHostsUnavailable"
INSTALLATION_SECRET_NOT_AVAILABLE: Final = "InstallationSecretNotAvailable"
PAUSED_REASON: Final = "ClusterOrResourcePaused"
# Ours: what upstream passes over in silence.
WAITING_FOR_OWNER: Final = "WaitingForMachine"
CLUSTER_NOT_FOUND: Final = "ClusterNotFound"
INSTALLER_NOT_FOUND: Final = "InstallerNotFound"
CLAIMING: Final = "ClaimingHost"
HOST_LOST: Final = "HostLost"
JOIN_FAILED: Final = "HostJoinFailed"
INVALID_SELECTOR: Final = "InvalidSelector"
RELEASING: Final = "ReleasingHost"
ATTACHED: Final = "Attached"
# Of a ByoMachine, ours: whether the kubelet has the version that the Machine asks for, and whether the labels of the
# host still match the selector that chose it.
KUBELET_VERSION: Final = "KubeletVersionMatches"
SELECTOR_MATCHES: Final = "SelectorMatchesHost"
LABEL_MISMATCH: Final = "LabelMismatch"

# Of a ByoCluster, K8sInstallerConfig, BootstrapKubeconfig and ByoMachineTemplate.
READY: Final = "Ready"
UNSUPPORTED_PLATFORM: Final = "UnsupportedPlatform"
UNSUPPORTED_BUNDLE: Final = "UnsupportedBundleType"
WAITING_FOR_HOST_INFO: Final = "WaitingForHostInfo"
SECRET_WRITTEN: Final = "InstallationSecretWritten"
TOKEN_MINTED: Final = "BootstrapTokenMinted"
TOKEN_EXPIRED: Final = "BootstrapTokenExpired"
TOKEN_USED: Final = "BootstrapTokenUsed"
APISERVER_UNKNOWN: Final = "APIServerUnknown"
WAITING_FOR_MACHINES: Final = "WaitingForByoMachines"
HOSTS_MATCH: Final = "HostsMatch"
NO_HOST_MATCHES: Final = "NoHostMatches"


class HostCondition(View, frozen=True):
    """A condition as Cluster API wrote it before v1beta2: with a severity where it is False."""

    type: Annotated[str, Markers("The type, in CamelCase.", required=True)] = ""
    status: Annotated[str, Markers("True, False or Unknown.", required=True)] = ""
    severity: Annotated[str, Markers("How bad it is: Error, Warning or Info. Only where the status is False.")] = ""
    reason: Annotated[str, Markers("Why, as one word in CamelCase.")] = ""
    message: Annotated[str, Markers("Why, as a sentence.")] = ""
    last_transition_time: Annotated[Time | None, Markers("When the status changed last.", required=True)] = None


# Each writer sets its own conditions, so the type is the key of the list.
Conditions = Annotated[
    tuple[Annotated[Condition, Markers(of=HostCondition)], ...], Markers(list_type="map", list_map_keys=("type",))
]
