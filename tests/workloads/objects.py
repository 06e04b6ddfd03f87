"""Objects with nothing but metadata, for tools that look at nothing else."""

from __future__ import annotations

from typing import Any

from mooring.api.meta import Bare, Meta, OwnerRef


def bare(name: str, *owners: OwnerRef, **metadata: Any) -> Bare:
    return Bare(Meta(name, "team", f"uid-{name}", owner_references=owners, **metadata))


def reference(name: str, kind: str = "Deployment", *, controller: bool = True) -> OwnerRef:
    return OwnerRef("apps/v1", kind, name, f"uid-{name}", controller, controller)
