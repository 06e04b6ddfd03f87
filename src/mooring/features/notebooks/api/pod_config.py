"""The pod that a job runs in, as far as people decide about it: image, environment, volumes, scheduling."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from mooring.api.core.types import Labels, View
from mooring.api.crds.markers import Int32, Markers
from mooring.features.notebooks.api.scheduling import JobAffinity, JobToleration

__all__ = [
    "BuildConfig",
    "ClaimVolume",
    "ConfigMapVolume",
    "EmptyDirVolume",
    "JobEnvSource",
    "JobEnvVar",
    "JobMount",
    "JobResources",
    "JobValueSource",
    "JobVolume",
    "KeyRef",
    "NameRef",
    "PodConfig",
    "SecretVolume",
    "VolumeItem",
]

_DNS_LABEL: Final = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_QUANTITY: Final = r"^([0-9]+(\.[0-9]+)?)(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?$"

Mode = Annotated[Int32, Markers(minimum=0, maximum=511)]


class KeyRef(View, frozen=True, omit_defaults=True):
    """One key of an object in the job's namespace."""

    name: Annotated[str, Markers("The name of the object.")]
    key: Annotated[str, Markers("The key.")]


class JobValueSource(View, frozen=True, omit_defaults=True):
    """Where a value comes from."""

    secret_key_ref: Annotated[KeyRef | None, Markers("A key of a Secret.")] = None
    config_map_key_ref: Annotated[KeyRef | None, Markers("A key of a ConfigMap.")] = None


class JobEnvVar(View, frozen=True, omit_defaults=True):
    """One variable."""

    name: Annotated[str, Markers("The name of the variable.")]
    value: Annotated[str, Markers("Its value.")] = ""
    value_from: Annotated[JobValueSource | None, Markers("Where its value comes from instead.")] = None


class NameRef(View, frozen=True, omit_defaults=True):
    """An object in the job's namespace."""

    name: Annotated[str, Markers("The name of the object.")]


class JobEnvSource(View, frozen=True, omit_defaults=True):
    """An object whose keys all become variables."""

    secret_ref: Annotated[NameRef | None, Markers("A Secret.")] = None
    config_map_ref: Annotated[NameRef | None, Markers("A ConfigMap.")] = None


class VolumeItem(View, frozen=True, omit_defaults=True):
    """One key of an object as a file."""

    key: Annotated[str, Markers("The key.", min_length=1)]
    path: Annotated[str, Markers("The file, below the mount.", min_length=1, pattern="^[^/].*$")]
    mode: Annotated[Mode | None, Markers("The permissions of the file.")] = None


Items = Annotated[tuple[VolumeItem, ...], Markers("The keys that become files; all of them if absent.")]
DefaultMode = Annotated[Mode | None, Markers("The permissions of files that have none of their own.")]
Optional = Annotated[bool | None, Markers("Whether the object may be absent.")]


class ConfigMapVolume(View, frozen=True, omit_defaults=True):
    """A ConfigMap as files."""

    name: Annotated[str, Markers("The name of the ConfigMap.", min_length=1)]
    items: Items = ()
    default_mode: DefaultMode = None
    optional: Optional = None


class SecretVolume(View, frozen=True, omit_defaults=True):
    """A Secret as files."""

    secret_name: Annotated[str, Markers("The name of the Secret.", min_length=1)]
    items: Items = ()
    default_mode: DefaultMode = None
    optional: Optional = None


class ClaimVolume(View, frozen=True, omit_defaults=True):
    """A volume that is claimed."""

    claim_name: Annotated[str, Markers("The name of the PersistentVolumeClaim.", min_length=1)]
    read_only: Annotated[bool, Markers("Whether nothing can be written.")] = False


class EmptyDirVolume(View, frozen=True, omit_defaults=True):
    """A directory that lives as long as the pod."""

    medium: Annotated[str, Markers("Memory, or the node's default.", enum=("", "Memory"))] = ""
    size_limit: Annotated[str, Markers("How much it may hold.", pattern=_QUANTITY)] = ""


class JobVolume(View, frozen=True, omit_defaults=True):
    """A volume of the pod, with exactly one source."""

    name: Annotated[str, Markers("Its name, none of those that the pod has anyway.", max_length=63, pattern=_DNS_LABEL)]
    persistent_volume_claim: Annotated[ClaimVolume | None, Markers("A claimed volume.")] = None
    config_map: Annotated[ConfigMapVolume | None, Markers("A ConfigMap as files.")] = None
    secret: Annotated[SecretVolume | None, Markers("A Secret as files.")] = None
    empty_dir: Annotated[EmptyDirVolume | None, Markers("An empty directory.")] = None


class JobMount(View, frozen=True, omit_defaults=True):
    """Where a volume is seen by the notebook."""

    name: Annotated[str, Markers("The name of the volume.", pattern=_DNS_LABEL)]
    mount_path: Annotated[str, Markers("The directory.", pattern="^/.*$")]
    sub_path: Annotated[str, Markers("The part of the volume; the whole of it if empty.")] = ""
    read_only: Annotated[bool, Markers("Whether nothing can be written.")] = False


class JobResources(View, frozen=True, omit_defaults=True):
    """What the notebook gets of its node."""

    requests: Annotated[Labels, Markers("What is set aside for it, as quantities in quotes.")] = msgspec.field(
        default_factory=dict
    )
    limits: Annotated[Labels, Markers("What it may use at most, as quantities in quotes.")] = msgspec.field(
        default_factory=dict
    )


class BuildConfig(View, frozen=True):
    """How an image is built before the notebook runs. Mooring builds none, and says so in the job's status."""

    enabled: Annotated[bool, Markers("Whether an image is wanted.", defaulted=True)] = False
    strategy: Annotated[
        str,
        Markers("What builds it.", enum=("s2i", "tekton", "kaniko", "shipwright", "custom"), defaulted=True),
    ] = "s2i"
    base_image: Annotated[str, Markers("The image that it is built on.", defaulted=True)] = (
        "quay.io/jupyter/minimal-notebook:latest"
    )
    dockerfile: Annotated[str, Markers("A Dockerfile of the repository.", pattern="^[a-zA-Z0-9._/-]+$")] = ""
    auto_generate_requirements: Annotated[
        bool, Markers("Whether requirements are read from the notebook's imports.", defaulted=True)
    ] = True
    requirements_file: Annotated[str, Markers("A file of requirements in the repository.")] = ""
    requirements_sources: Annotated[tuple[str, ...], Markers("Where requirements are looked for, in order.")] = ()
    prefer_dockerfile: Annotated[
        bool, Markers("Whether a Dockerfile counts more than requirements.", defaulted=True)
    ] = False
    fallback_strategy: Annotated[
        str, Markers("What happens without requirements.", enum=("warn", "fail", "auto"), defaulted=True)
    ] = "warn"
    strategy_config: Annotated[Labels, Markers("Settings of what builds.")] = msgspec.field(default_factory=dict)
    timeout: Annotated[str, Markers("How long a build may take.", defaulted=True)] = "15m"


class PodConfig(View, frozen=True):
    """The pod that the notebook runs in."""

    container_image: Annotated[str, Markers("The image, with Python, nbclient and the kernel of the notebook.")]
    service_account_name: Annotated[str, Markers("The account that the pod runs as.", defaulted=True)] = "default"
    resources: Annotated[JobResources | None, Markers("What the notebook gets of its node.")] = None
    env: Annotated[tuple[JobEnvVar, ...], Markers("Variables, put over those that the pod has anyway.")] = ()
    env_from: Annotated[tuple[JobEnvSource, ...], Markers("Objects whose keys all become variables.")] = ()
    credentials: Annotated[
        tuple[str, ...], Markers("Secrets whose keys all become variables; short for envFrom, and moved there.")
    ] = ()
    volumes: Annotated[tuple[JobVolume, ...], Markers("Volumes of the pod.")] = ()
    volume_mounts: Annotated[tuple[JobMount, ...], Markers("Where the notebook sees them.")] = ()
    tolerations: Annotated[tuple[JobToleration, ...], Markers("Taints of nodes that the pod tolerates.")] = ()
    node_selector: Annotated[Labels, Markers("Labels that the node must have, with values in quotes.")] = msgspec.field(
        default_factory=dict
    )
    affinity: Annotated[JobAffinity | None, Markers("Rules about nodes and other pods; nodeSelector holds too.")] = None
    build_config: Annotated[BuildConfig | None, Markers("How an image is built first; not available here.")] = None
