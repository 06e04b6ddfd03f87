"""Claims to devices that are changed for the length of a `with` block, and the edits by which they are.

The spec of a claim and of a claim template cannot be changed once it is there, so these edits have no command: they
say what is to be written anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from mooring.api.resource.views import ResourceClaim
from mooring.kube.objects import Object
from mooring.placement.advise.model import Edit
from mooring.placement.advise.pointers import edited, pointer
from mooring.placement.devices.dra_manager import DRAManager
from mooring.placement.pods import PodInfo

TEMPLATE = "resourceclaimtemplate"
CLAIM = "resourceclaim"


class ClaimSource(NamedTuple):
    """A claim of a pod, and the object that it is written in: itself, or the template that it is made from."""

    claim: ResourceClaim
    target: str

    @property
    def words(self) -> str:
        kind, _, name = self.target.split("/")
        return f"{'ResourceClaimTemplate' if kind == TEMPLATE else 'ResourceClaim'} {name}"

    def edit(self, op: str, tokens: tuple[str | int, ...], before: object, after: object) -> Edit:
        return Edit(self.target, op, pointer(*self._prefix, "devices", *tokens), before, after)

    @property
    def _prefix(self) -> tuple[str, ...]:
        return ("spec", "spec") if self.target.startswith(f"{TEMPLATE}/") else ("spec",)


def claim_sources(devices: DRAManager, info: PodInfo, spec: Object) -> list[ClaimSource]:
    """The claims of a pod that have no devices yet."""
    templates = {each["name"]: each.get("resourceClaimTemplateName") for each in spec.get("resourceClaims") or ()}
    found = []
    for reference in info.claims:
        claim = devices.claims.get(f"{info.namespace}/{reference.claim}")
        if claim is None or claim.status.allocation is not None:
            continue
        template = templates.get(reference.name) if reference.generated else None
        kind, name = (TEMPLATE, template) if template else (CLAIM, reference.claim)
        found.append(ClaimSource(claim, f"{kind}/{info.namespace}/{name}"))
    return found


@contextmanager
def claims_changed(devices: DRAManager, sources: Iterable[ClaimSource], edits: Iterable[Edit]) -> Iterator[None]:
    """The claims with these edits made, of those edits that are of claims."""
    before = []
    listed = [edit for edit in edits if edit.target.partition("/")[0] in (TEMPLATE, CLAIM)]
    for source in sources if listed else ():
        own = [edit for edit in listed if edit.target == source.target]
        if not own:
            continue
        spec = edited(msgspec.to_builtins(source.claim.spec), [_in_spec(edit) for edit in own])
        before.append(source.claim)
        devices.set(msgspec.convert({**msgspec.to_builtins(source.claim), "spec": spec}, ResourceClaim))
    try:
        yield
    finally:
        for claim in before:
            devices.set(claim)


def _in_spec(edit: Edit) -> Edit:
    return msgspec.structs.replace(edit, path=edit.path.removeprefix("/spec").removeprefix("/spec"))
