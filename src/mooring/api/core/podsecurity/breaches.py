"""What a check finds: a reason in few words, and a sentence that names who breaks it. The words are the API's."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from mooring.kube.objects import Object

__all__ = ["Breach", "SecuredPod", "containers_named", "one_or_many", "quoted", "setters"]


class SecuredPod(NamedTuple):
    """A pod, or the template of one, under the rules of a version."""

    annotations: Object
    spec: Object
    minor: int

    @property
    def security(self) -> Object:
        return self.spec.get("securityContext") or {}

    @property
    def is_windows(self) -> bool:
        return bool((self.spec.get("os") or {}).get("name") == "windows")

    @property
    def has_own_users(self) -> bool:
        """Whether its users are others than the node's, so that being root means less."""
        return self.spec.get("hostUsers") is False

    def containers(self) -> Iterator[tuple[str, Object, Object]]:
        """The name, the security context and the whole of every container."""
        for kind in ("initContainers", "containers", "ephemeralContainers"):
            for container in self.spec.get(kind) or ():
                yield container["name"], container.get("securityContext") or {}, container

    def having(self, has: Callable[[Object], Any]) -> list[str]:
        """The containers whose security context has something."""
        return [name for name, context, _ in self.containers() if has(context)]


class Breach(NamedTuple):
    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


def quoted(items: Iterable[str]) -> str:
    return ", ".join(f'"{item}"' for item in items)


def one_or_many(one: str, many: str, items: Sequence[Any]) -> str:
    return one if len(items) == 1 else many


def containers_named(names: Sequence[str]) -> str:
    return f"{one_or_many('container', 'containers', names)} {quoted(names)}"


def setters(pod: bool, names: Sequence[str]) -> str:
    """Who sets something: the pod, containers, or both."""
    return " and ".join((*(("pod",) if pod else ()), *((containers_named(names),) if names else ())))
