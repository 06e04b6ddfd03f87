"""A chart that Helm shall release: which one, where, under which name, and with which values."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from mooring.api.core.types import View
from mooring.api.crds.markers import Markers

# What Helm takes for the name of a release, and Kubernetes for that of a namespace.
_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"


class HelmChart(View, frozen=True):
    """One release. `chart` may be written with the name of its repository before it, as `kaito/workspace` is."""

    name: Annotated[str, Markers("The name of the release.", pattern=_NAME, max_length=53)]
    chart: Annotated[
        str,
        Markers(
            "The name of the chart in the repository; the name of the repository may stand before it, with a slash.",
            pattern=r"^[A-Za-z0-9]([-A-Za-z0-9._]*/)?[-A-Za-z0-9._]*$",
            min_length=1,
        ),
    ]
    version: Annotated[
        str,
        Markers("The version of the chart, exactly.", pattern=r"^v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$"),
    ]
    namespace: Annotated[str, Markers("The namespace of the release.", pattern=_NAME, max_length=63)]
    create_namespace: Annotated[
        bool, Markers("Whether the namespace is made when it is not there, and deleted with the last release.")
    ] = False
    values: Annotated[
        dict[str, Any] | None, Markers("Values that go before those of the chart. null takes one of them away.")
    ] = None
    skip_crds: Annotated[
        bool, Markers("Whether the custom resource definitions of the chart are left out altogether.")
    ] = msgspec.field(default=False, name="skipCRDs")
