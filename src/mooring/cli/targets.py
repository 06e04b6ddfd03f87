"""What a command is asked about, as kubectl lets people write it: `pod/web`, `deploy/web`, `statefulset.apps/db`."""

from __future__ import annotations

from typing import Final, NamedTuple

from mooring.kube.errors import InputError

__all__ = ["Target", "parse_target"]

# Plural, short name and API group of every kind that can be asked about, by kind.
_KINDS: Final = {
    "Pod": ("pods", "po", ""),
    "Deployment": ("deployments", "deploy", "apps"),
    "ReplicaSet": ("replicasets", "rs", "apps"),
    "StatefulSet": ("statefulsets", "sts", "apps"),
    "Job": ("jobs", "job", "batch"),
    "LeaderWorkerSet": ("leaderworkersets", "lws", "leaderworkerset.x-k8s.io"),
}
KNOWN: Final = "pod/NAME, deployment/NAME, replicaset/NAME, statefulset/NAME, job/NAME or lws/NAME"


class Target(NamedTuple):
    """A kind and the name of one of its objects; without a name, all pods that wait for a node."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.lower()}/{self.name}" if self.name else f"{self.kind.lower()}s"


def parse_target(text: str) -> Target:
    word, slash, name = text.partition("/")
    kind = _kind(word)
    if slash and not name:
        raise InputError(f'"{text}" has no name after the slash; expected {KNOWN}, or pods')
    if kind is None or (not slash and kind != "Pod"):
        raise InputError(f'expected {KNOWN}, or pods for all that wait, not "{text}"')
    return Target(kind, name)


def _kind(word: str) -> str | None:
    resource, _, group = word.lower().partition(".")
    for kind, (plural, short, its_group) in _KINDS.items():
        if resource in (plural, short, kind.lower()):
            return kind if group in ("", its_group, f"v1.{its_group}") else None
    return None
