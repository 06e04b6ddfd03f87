"""EndpointSlices as their controller sees them."""

from __future__ import annotations

from mooring.api.core.types import View
from mooring.api.meta import AnnotatedMeta
from mooring.kube.objects import Object


class EndpointSlice(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    address_type: str = ""
    endpoints: tuple[Object, ...] | None = None
    ports: tuple[Object, ...] | None = None
