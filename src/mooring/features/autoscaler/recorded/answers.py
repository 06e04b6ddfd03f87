"""The answer to one recorded request, whatever it asks."""

from __future__ import annotations

from mooring.features.autoscaler.recorded.pool_templates import answer_template
from mooring.features.autoscaler.recorded.scale_downs import answer_scale_down
from mooring.features.autoscaler.recorded.scale_ups import answer_scale_up
from mooring.features.autoscaler.recorded.states import answer_backoff, answer_state
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["answer"]


def answer(request: Object) -> Object:
    operation = _OPERATIONS.get(request["op"])
    if operation is None:
        known = ", ".join(_OPERATIONS)
        raise MooringError(f"op: {request['op']!r} is not known, use one of {known}")
    return {"id": request["id"], **operation(request)}


_OPERATIONS = {
    "backoff": answer_backoff,
    "scaleDown": answer_scale_down,
    "scaleUp": answer_scale_up,
    "state": answer_state,
    "template": answer_template,
}
