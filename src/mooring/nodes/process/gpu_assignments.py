"""Which GPU belongs to which container, kept in a file: a restart of the node gives nobody another one."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from mooring.kube.objects import Object
from mooring.kube.quantities import value
from mooring.nodes.process.gpus import RESOURCE, Gpu

__all__ = ["GpuAssignments", "NotEnoughGpus", "gpus_wanted"]

_SHARED_DEVICES: Final = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps")
_log = logging.getLogger("mooring.node")


class NotEnoughGpus(Exception):
    """The text is the kubelet's."""


def gpus_wanted(container: Object) -> int:
    found = ((container.get("resources") or {}).get("limits") or {}).get(RESOURCE)
    return 0 if found is None else value(found)


class GpuAssignments:
    """`healthy` are the GPUs that can be given out now, `known` all that this node has ever seen."""

    def __init__(self, path: Path, gpus: Sequence[Gpu]) -> None:
        self.known: dict[str, Gpu] = {gpu.uuid: gpu for gpu in gpus}
        self.healthy = list(gpus)
        self._path = path
        # By the uid of a pod and the name of a container.
        self._given: dict[str, dict[str, list[str]]] = _read(path)

    def observe(self, gpus: Sequence[Gpu]) -> None:
        """Take over what nvidia-smi says now."""
        self.healthy = list(gpus)
        self.known |= {gpu.uuid: gpu for gpu in gpus}

    def assign(self, uid: str, container: str, count: int) -> list[Gpu]:
        """The GPUs of a container: the ones that it has, else free ones. Raises NotEnoughGpus."""
        if not count:
            return []
        given = self._given.get(uid, {}).get(container, [])
        healthy = {gpu.uuid for gpu in self.healthy}
        if len(given) != count or not healthy.issuperset(given):
            taken = {uuid for each in self._given.values() for uuids in each.values() for uuid in uuids} - set(given)
            free = [gpu.uuid for gpu in self.healthy if gpu.uuid not in taken]
            if len(free) < count:
                raise NotEnoughGpus(
                    f"Allocate failed due to requested number of devices unavailable for {RESOURCE}. "
                    f"Requested: {count}, Available: {len(free)}, which is unexpected"
                )
            given = free[:count]
            self._given.setdefault(uid, {})[container] = given
            self._write()
        return [self.known[uuid] for uuid in given]

    def release(self, uid: str, container: str | None = None) -> None:
        """Nobody of this pod, or this container of it, needs its GPUs any more."""
        held = self._given.get(uid)
        if held is None or (container is not None and held.pop(container, None) is None):
            return
        if container is None or not held:
            del self._given[uid]
        self._write()

    def keep_only(self, uids: Iterable[str]) -> None:
        known = set(uids)
        for uid in [uid for uid in self._given if uid not in known]:
            self.release(uid)

    def variables(self, gpus: Sequence[Gpu]) -> dict[str, str]:
        """What CUDA and NVIDIA's tools look at; a container without a GPU is told so where there are some."""
        if not self.known:
            return {}
        listed = ",".join(gpu.uuid for gpu in gpus)
        return {"NVIDIA_VISIBLE_DEVICES": listed or "void", "CUDA_VISIBLE_DEVICES": listed}

    def devices(self, gpus: Sequence[Gpu]) -> list[str]:
        return [f"/dev/{name}" for name in (*(f"nvidia{gpu.minor}" for gpu in gpus), *_SHARED_DEVICES)] if gpus else []

    def _write(self) -> None:
        fresh = self._path.with_name(f"{self._path.name}.new")
        try:
            fresh.write_text(json.dumps(self._given))
            fresh.replace(self._path)
        except OSError as error:
            _log.warning("the assignment of GPUs cannot be kept in %s: %s", self._path, error)


def _read(path: Path) -> dict[str, dict[str, list[str]]]:
    with suppress(OSError, ValueError, AttributeError, TypeError):
        found = json.loads(path.read_bytes())
        return {
            str(uid): {str(name): [str(uuid) for uuid in uuids] for name, uuids in each.items()}
            for uid, each in found.items()
        }
    return {}
