"""Builders of pools that an autoscaler scales, as people label and annotate them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mooring.features.machines.api.names import AUTOSCALER_MAX_SIZE, AUTOSCALER_MIN_SIZE
from mooring.kube.objects import Object
from mooring.testing.machines import machine_deployment, machine_template

DISCOVERED = {"cluster-autoscaler-enabled": "true"}


def scaled_pool(
    purpose: str = "worker",
    replicas: int = 0,
    *,
    least: int | str = 0,
    most: int | str = 5,
    annotations: Mapping[str, str] | None = None,
    **template: Any,
) -> Object:
    """Pool `PURPOSE-pool` of template `PURPOSE-template`, whose nodes have the label purpose=PURPOSE."""
    bounds = {AUTOSCALER_MIN_SIZE: str(least), AUTOSCALER_MAX_SIZE: str(most)}
    made = machine_deployment(
        f"{purpose}-pool",
        replicas,
        template=machine_template(f"{purpose}-template", labels={**DISCOVERED, "purpose": purpose}, **template),
        annotations={**bounds, **(annotations or {})},
    )
    made["metadata"]["labels"] = dict(DISCOVERED)
    return made
