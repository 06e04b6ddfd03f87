"""What the annotations of a pool say: its bounds, its options, and the capacity, labels and taints of its next node."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple

from mooring.features.autoscaler.settings import NodeGroupOptions
from mooring.features.autoscaler.views import AutoscalerTaint
from mooring.kube.durations import parse_duration
from mooring.kube.errors import MooringError, QuantityError
from mooring.kube.names import is_label_value, is_qualified_name
from mooring.kube.quantities import Quantity, parse_quantity

__all__ = [
    "Bounds",
    "annotated_capacity",
    "annotated_csi_drivers",
    "annotated_devices",
    "annotated_labels",
    "annotated_options",
    "annotated_taints",
    "scaling_bounds",
]

Annotations = Mapping[str, str]

_MIN_SIZE: Final = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
_MAX_SIZE: Final = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
_OPTION: Final = "cluster.x-k8s.io/autoscaling-options-"
_CAPACITY: Final = "capacity.cluster-autoscaler.kubernetes.io/"
_QUANTITIES: Final = {"cpu": "cpu", "memory": "memory", "ephemeral-disk": "ephemeral-storage"}
_DEFAULT_PODS: Final = 110
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_FLOAT: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?")
_INT32_MAX: Final = 2**31 - 1
_INT64_MAX: Final = 2**63 - 1


class Bounds(NamedTuple):
    min: int
    max: int


def scaling_bounds(annotations: Annotations) -> Bounds:
    """An absent bound is zero. Raises MooringError where a bound is no number, negative, or the maximum too low."""
    found = Bounds(_bound(annotations, _MIN_SIZE, "min"), _bound(annotations, _MAX_SIZE, "max"))
    if found.max < found.min:
        raise MooringError("error validating min/max annotations: invalid max annotation")
    return found


def _bound(annotations: Annotations, key: str, word: str) -> int:
    text = annotations.get(key)
    if text is None:
        return 0
    number, problem = _integer(text)
    if problem:
        cause = f'strconv.Atoi: parsing "{text}": {problem}'
        raise MooringError(f"error validating min/max annotations: invalid {word} annotation: {cause}")
    if number < 0:
        raise MooringError(f"error validating min/max annotations: invalid {word} annotation")
    return number


def _integer(text: str) -> tuple[int, str]:
    if not _INTEGER.fullmatch(text):
        return 0, "invalid syntax"
    number = int(text)
    return (number, "") if -_INT64_MAX - 1 <= number <= _INT64_MAX else (0, "value out of range")


def annotated_capacity(annotations: Annotations) -> dict[str, Quantity]:
    """What is written is taken, zero as absent; raises MooringError where one of them cannot be read.

    The number of pods is always there.
    """
    found = {}
    for name, resource in _QUANTITIES.items():
        amount = _quantity(annotations, name)
        if amount:
            found[resource] = amount
    gpus = _count(annotations, "gpu-count")
    gpu_type = annotations.get(f"{_CAPACITY}gpu-type", "")
    if gpus and gpu_type:
        found[gpu_type] = Quantity(gpus)
    found["pods"] = Quantity(_count(annotations, "maxPods") or _DEFAULT_PODS)
    return found


def _quantity(annotations: Annotations, name: str) -> Quantity | None:
    text = annotations.get(f"{_CAPACITY}{name}")
    if not text:
        return None
    try:
        # The API forgives spaces around a quantity; upstream's autoscaler does not.
        return parse_quantity(text.replace(" ", "x"))
    except QuantityError as error:
        raise MooringError(error.message) from None


def _count(annotations: Annotations, name: str) -> int:
    key = f"{_CAPACITY}{name}"
    text = annotations.get(key)
    if not text:
        return 0
    number, problem = _integer(text)
    if problem:
        cause = f'strconv.ParseInt: parsing "{text}": {problem}'
        raise MooringError(f'value "{text}" from annotation "{key}" expected to be an integer: {cause}')
    return number


def annotated_devices(annotations: Annotations) -> dict[str, int]:
    """How many devices a DRA driver would offer on the node."""
    driver = annotations.get(f"{_CAPACITY}dra-driver", "")
    gpus = _count(annotations, "gpu-count") if driver else 0
    return {driver: gpus} if gpus else {}


def annotated_csi_drivers(annotations: Annotations) -> dict[str, int]:
    """How many volumes each driver can attach; 0 where there is no limit. What cannot be read is left out."""
    found = {}
    for each in annotations.get(f"{_CAPACITY}csi-driver", "").split(","):
        name, separator, limit = (part.strip() for part in each.partition("="))
        number, problem = _integer(limit)
        if name and separator and not problem and 0 <= number <= _INT32_MAX:
            found[name] = number
    return found


def annotated_labels(annotations: Annotations) -> dict[str, str]:
    parts = (each.split("=", 1) for each in annotations.get(f"{_CAPACITY}labels", "").split(","))
    return {part[0]: part[1] for part in parts if len(part) == 2}


def annotated_taints(annotations: Annotations) -> tuple[AutoscalerTaint, ...]:
    """Those that can be read, as `key=value:Effect` or `key:Effect`; a key alone is a taint without an effect."""
    texts = annotations.get(f"{_CAPACITY}taints", "").split(",")
    return tuple(taint for text in texts if (taint := _taint(text)) is not None)


def _taint(text: str) -> AutoscalerTaint | None:
    head, _, effect = text.partition(":")
    if ":" in effect:
        return None
    key, *values = head.split("=") if ":" in text else [head]
    if len(values) > 1 or any(map(is_label_value, values)) or is_qualified_name(key):
        return None
    return AutoscalerTaint(key=key, value="".join(values), effect=effect)


def annotated_options(annotations: Annotations, defaults: NodeGroupOptions) -> NodeGroupOptions:
    """The options of a pool; a value that cannot be read is as if it were not there."""
    texts = {key.removeprefix(_OPTION): text.lower() for key, text in annotations.items() if key.startswith(_OPTION)}
    read: dict[str, Any] = {
        "scale_down_utilization_threshold": _ratio(texts.get("scaledownutilizationthreshold")),
        "scale_down_gpu_utilization_threshold": _ratio(texts.get("scaledowngpuutilizationthreshold")),
        "scale_down_unneeded_time": _duration(texts.get("scaledownunneededtime")),
        "scale_down_unready_time": _duration(texts.get("scaledownunreadytime")),
        "max_node_provision_time": _duration(texts.get("maxnodeprovisiontime")),
        "max_node_startup_time": _duration(texts.get("maxnodestartuptime")),
    }
    return defaults._replace(**{name: value for name, value in read.items() if value is not None})


def _ratio(text: str | None) -> float | None:
    return None if text is None or not _FLOAT.fullmatch(text) else float(text)


def _duration(text: str | None) -> timedelta | None:
    if text is None:
        return None
    found = parse_duration(text.lstrip("+-"))
    return -found if found is not None and text.startswith("-") else found
