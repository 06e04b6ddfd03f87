"""A pod's volumes on disk: made before its containers start, refreshed from the API, mounted into each container."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.quantities import value
from mooring.nodes.process.containers.environment.expansion import expand
from mooring.nodes.process.containers.environment.variables import Sources
from mooring.nodes.process.containers.sandbox.command import Mount
from mooring.nodes.process.containers.sandbox.users import fs_group
from mooring.nodes.process.node_context import NodeContext
from mooring.nodes.process.pods.specs import all_containers, main_containers
from mooring.nodes.process.volumes.claims import claim_name, claimed_path, is_claimed, volume_of_claim
from mooring.nodes.process.volumes.contents import (
    Tokens,
    VolumeError,
    content_of,
    is_content,
    kind_of,
    references,
    token_projections,
)
from mooring.nodes.process.volumes.disk import host_path, make_empty, place_content
from mooring.nodes.process.volumes.sub_path import sub_path

__all__ = ["mount_volumes", "mounts_of", "refresh_volumes"]

# The name of the volume with a pod's own token starts with this.
_TOKEN_VOLUME: Final = "kube-api-access-"


async def mount_volumes(context: NodeContext, pod: Object) -> str:
    """Make all volumes. The reason why one cannot be made, or an empty string."""
    volumes = pod["spec"].get("volumes") or []
    if context.problem and any(map(_needs_volumes, all_containers(pod))):
        return f"volumes cannot be mounted on node {context.node_fields.node}: {context.problem}"
    try:
        for volume in volumes:
            try:
                kind_of(volume)
            except VolumeError as error:
                return _failed(volume, error)
        sources, tokens = await _sources(context, pod, volumes), await _tokens(context, pod, volumes)
    except MooringError as error:
        return f"the API server cannot be asked: {error}"
    for volume in volumes:
        try:
            if is_claimed(volume):
                await _link_claimed(context, pod, volume)
            else:
                await asyncio.to_thread(_make, context, pod, volume, sources, tokens)
        except MooringError as error:
            return f"the API server cannot be asked: {error}"
        except (VolumeError, OSError) as error:
            return _failed(volume, error)
    return ""


async def _link_claimed(context: NodeContext, pod: Object, volume: Object) -> None:
    """Link the pod's volume to the files of its claim: a container is started from the link, without the API."""
    namespace, name = pod["metadata"]["namespace"], claim_name(pod, volume)
    found = await context.sources(namespace, [("PersistentVolumeClaim", name)])
    bound = volume_of_claim(pod, volume, found("PersistentVolumeClaim", name))
    persistent = (await context.sources("", [("PersistentVolume", bound)]))("PersistentVolume", bound)
    if persistent is None:
        raise VolumeError(f'persistentvolume "{bound}" not found')
    view, group = context.isolation.view(), fs_group(pod, context.user)
    path = await asyncio.to_thread(claimed_path, context.disk, persistent, view, group)
    link = context.disk.volume(pod["metadata"]["uid"], volume["name"])
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(path)


async def refresh_volumes(context: NodeContext, pod: Object) -> None:
    """Write the current content of ConfigMaps and Secrets, and tokens that are still good.

    A volume that cannot be read keeps its content.
    """
    volumes = [volume for volume in pod["spec"].get("volumes") or () if is_content(volume)]
    try:
        sources, tokens = await _sources(context, pod, volumes), await _tokens(context, pod, volumes)
        for volume in volumes:
            await asyncio.to_thread(_make, context, pod, volume, sources, tokens)
    except (MooringError, VolumeError, OSError):
        return


async def _sources(context: NodeContext, pod: Object, volumes: list[Object]) -> Sources:
    wanted = set[tuple[str, str]]().union(*(references(volume) for volume in volumes))
    return await context.sources(pod["metadata"]["namespace"], wanted)


async def _tokens(context: NodeContext, pod: Object, volumes: list[Object]) -> Tokens:
    wanted = {each for volume in volumes for each in token_projections(volume)}
    return {each: await context.tokens.token(pod, each) for each in sorted(wanted)}


def _needs_volumes(container: Object) -> bool:
    """Whether a container mounts anything but the token that every pod is given; it can do without that."""
    return any(not mount["name"].startswith(_TOKEN_VOLUME) for mount in container.get("volumeMounts") or ())


def _failed(volume: Object, error: Exception) -> str:
    return f'MountVolume.SetUp failed for volume "{volume["name"]}" : {error}'


def _make(context: NodeContext, pod: Object, volume: Object, sources: Sources, tokens: Tokens) -> None:
    folder = context.disk.volume(pod["metadata"]["uid"], volume["name"])
    group = fs_group(pod, context.user)
    match kind_of(volume):
        case "emptyDir":
            make_empty(folder, group, in_memory=_memory_size(context, pod, volume["emptyDir"] or {}))
        case "hostPath":
            _host_path(context, volume)
        case _:
            place_content(folder, content_of(pod, volume, sources, context.node_fields, tokens), group)


def _is_read_only(volume: Object) -> bool:
    return bool((volume.get("persistentVolumeClaim") or {}).get("readOnly"))


def _host_path(context: NodeContext, volume: Object) -> Path:
    view = context.isolation.view()
    return host_path(volume["hostPath"], view.data, view.procs)


def _memory_size(context: NodeContext, pod: Object, source: Object) -> int | None:
    """The size of an emptyDir in memory: its own limit, at most the memory of the pod or else of the node."""
    if source.get("medium") != "Memory" or context.user != 0:
        return None
    limits = [((each.get("resources") or {}).get("limits") or {}).get("memory") for each in main_containers(pod)]
    known = [value(limit) for limit in limits if limit is not None]
    size = sum(known) if len(known) == len(limits) else value(context.node_fields.allocatable["memory"])
    own = value(source.get("sizeLimit") or "0")
    return min(own, size) if own > 0 else size


def mounts_of(context: NodeContext, pod: Object, container: Object, variables: dict[str, str]) -> list[Mount]:
    """The mounts of a container. Raises VolumeError for a path that it must not have."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    found = []
    for mount in container.get("volumeMounts") or ():
        volume = volumes[mount["name"]]
        kind = kind_of(volume)
        uid = pod["metadata"]["uid"]
        if kind == "hostPath":
            source = _host_path(context, volume)
        elif is_claimed(volume):
            source = context.disk.volume(uid, volume["name"]).readlink()
        else:
            source = context.disk.volume(uid, volume["name"])
        part = mount.get("subPath") or expand(mount.get("subPathExpr") or "", variables)
        within = ""
        if part:
            within = str(source.resolve())
            source = sub_path(
                source, part, make=not is_content(volume), mount=mount["name"], container=container["name"]
            )
        # As with a kubelet, content from the API is read-only in containers.
        read_only = bool(mount.get("readOnly")) or is_content(volume) or _is_read_only(volume)
        found.append(Mount(str(source.absolute()), mount["mountPath"], read_only, within))
    return found
