"""PriorityLevelConfigurations: their defaults, and their validation in the API's order."""

from math import ceil, log2
from typing import Final

from mooring.api.flowcontrol.flow_schemas import check_conditions
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required
from mooring.kube.objects import Object

__all__ = ["default_priority_level", "validate_priority_level", "validate_priority_level_status"]

Errors = list[FieldError]

_TYPES: Final = ("Exempt", "Limited")
_RESPONSES: Final = ("Queue", "Reject")
_DEFAULT_SHARES: Final = 30
_QUEUING_DEFAULTS: Final = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}
_MAX_QUEUES: Final = 10_000_000
# What a hash is long enough for when it picks the hand of queues of a flow.
_MAX_HASH_BITS: Final = 60
_SHARES: Final = "must be a non-negative integer"
_PERCENT: Final = "must be between 0 and 100, inclusive"


def default_priority_level(obj: Object) -> None:
    spec = obj["spec"]
    if (exempt := spec.get("exempt")) is not None:
        exempt.setdefault("nominalConcurrencyShares", 0)
        exempt.setdefault("lendablePercent", 0)
    if (limited := spec.get("limited")) is not None:
        # The field is null where it is not set.
        if limited["nominalConcurrencyShares"] is None:
            limited["nominalConcurrencyShares"] = _DEFAULT_SHARES
        limited.setdefault("lendablePercent", 0)
        if (queuing := limited["limitResponse"].get("queuing")) is not None:
            for field, value in _QUEUING_DEFAULTS.items():
                queuing[field] = queuing.get(field) or value


def validate_priority_level(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec, kind = obj["spec"], obj["spec"]["type"]
    if (obj["metadata"].get("name") == "exempt") != (kind == "Exempt"):
        errors.append(invalid("spec.type", Enum(kind), "must be 'Exempt' if and only if `name` is 'exempt'"))
    if kind == "Exempt":
        if "limited" in spec:
            errors.append(forbidden("spec.limited", "must be nil if the type is not Limited"))
        if "exempt" in spec:
            _check_shares(errors, spec["exempt"], "spec.exempt")
            _check_lendable(errors, spec["exempt"], "spec.exempt")
    elif kind == "Limited":
        _check_limited(errors, spec)
    else:
        errors.append(not_supported("spec.type", Enum(kind), _TYPES))
    check_conditions(errors, obj)
    return errors


def validate_priority_level_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_conditions(errors, new)
    return errors


def _check_shares(errors: Errors, level: Object, path: str) -> None:
    shares = level["nominalConcurrencyShares"]
    if shares < 0:
        errors.append(invalid(f"{path}.nominalConcurrencyShares", shares, _SHARES))


def _check_lendable(errors: Errors, level: Object, path: str) -> None:
    percent = level["lendablePercent"]
    if not 0 <= percent <= 100:
        errors.append(invalid(f"{path}.lendablePercent", percent, _PERCENT))


def _check_limited(errors: Errors, spec: Object) -> None:
    if "exempt" in spec:
        errors.append(forbidden("spec.exempt", "must be nil if the type is Limited"))
    limited, path = spec.get("limited"), "spec.limited"
    if limited is None:
        errors.append(required(path, "must not be empty when type is Limited"))
        return
    _check_shares(errors, limited, path)
    _check_response(errors, limited["limitResponse"], f"{path}.limitResponse")
    _check_lendable(errors, limited, path)
    percent = limited.get("borrowingLimitPercent")
    if percent is not None and percent < 0:
        errors.append(invalid(f"{path}.borrowingLimitPercent", percent, f"if specified, {_SHARES}"))


def _check_response(errors: Errors, response: Object, path: str) -> None:
    kind, queuing = response["type"], response.get("queuing")
    if kind == "Reject":
        if queuing is not None:
            detail = "must be nil if limited.limitResponse.type is not Limited"
            errors.append(forbidden(f"{path}.queuing", detail))
    elif kind == "Queue":
        if queuing is None:
            detail = "must not be empty if limited.limitResponse.type is Limited"
            errors.append(required(f"{path}.queuing", detail))
        else:
            _check_queuing(errors, queuing, f"{path}.queuing")
    else:
        errors.append(not_supported(f"{path}.type", Enum(kind), _RESPONSES))


def _check_queuing(errors: Errors, queuing: Object, path: str) -> None:
    length, queues, hand = queuing["queueLengthLimit"], queuing["queues"], queuing["handSize"]
    if length <= 0:
        errors.append(invalid(f"{path}.queueLengthLimit", length, "must be positive"))
    if queues <= 0:
        errors.append(invalid(f"{path}.queues", queues, "must be positive"))
    elif queues > _MAX_QUEUES:
        errors.append(invalid(f"{path}.queues", queues, f"must not be greater than {_MAX_QUEUES}"))
    if hand <= 0:
        errors.append(invalid(f"{path}.handSize", hand, "must be positive"))
    elif hand > queues:
        errors.append(invalid(f"{path}.handSize", hand, f"should not be greater than queues ({queues})"))
    elif _entropy_bits(queues, hand) > _MAX_HASH_BITS:
        detail = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than "
            f"{_MAX_HASH_BITS}"
        )
        errors.append(invalid(f"{path}.handSize", hand, detail))


def _entropy_bits(queues: int, hand: int) -> int:
    """How many bits choose among the ways to deal a hand of queues."""
    return ceil(sum(log2(queues - dealt) for dealt in range(hand)))
