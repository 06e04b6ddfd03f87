"""Something that Mooring can have installed in a cluster with Helm, by its id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mooring.kube.objects import Object
from mooring.runway.settings import RunwaySettings

__all__ = ["Installable"]


@dataclass(frozen=True, kw_only=True)
class Installable:
    """`id` is also the name of its Installation."""

    id: str
    name: str
    # The Installation that has the charts released; None where there is nothing to install.
    installation: Callable[[RunwaySettings], Object | None]
