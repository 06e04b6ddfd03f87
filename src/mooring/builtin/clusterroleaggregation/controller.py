"""Gives ClusterRoles with an aggregationRule the rules of the ClusterRoles that it selects.

admin, edit and view of every cluster are made so, and whoever defines a kind adds to them with a label.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

import msgspec

from mooring.api.core.types import LabelSelector
from mooring.api.kinds import Key
from mooring.api.rbac.views import ClusterRole, PolicyRule
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.selectors import NOTHING, Selector, selector_from_dict
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, Decision
from mooring.runtime.view import View
from mooring.workloads.kinds import CLUSTER_ROLE


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    role = view.get(CLUSTER_ROLE, *key)
    if role is None or role.metadata.deleting or role.aggregation_rule is None:
        return Decision()
    roles = view.list(CLUSTER_ROLE)
    rules = tuple(dict.fromkeys(_selected_rules(role, roles)))
    if rules == (role.rules or ()):
        return Decision()
    # Without rules the field is left out, so that only what came from here is taken back.
    wanted = {"rules": [_rule_object(rule) for rule in rules]} if rules else {}
    return Decision(children=(Apply(CLUSTER_ROLE, {"metadata": {"name": key.name}, **wanted}),))


def _selected_rules(role: ClusterRole, roles: tuple[ClusterRole, ...]) -> Iterator[PolicyRule]:
    """The rules of all selected roles: by selector, then by name."""
    ordered = sorted(roles, key=lambda each: each.metadata.name)
    for selector in map(_compiled, role.aggregation_rule.cluster_role_selectors if role.aggregation_rule else ()):
        for each in ordered:
            if each.metadata.name != role.metadata.name and selector.matches(each.metadata.labels):
                yield from each.rules or ()


def _rule_object(rule: PolicyRule) -> Object:
    return {field: list(values) for field, values in msgspec.to_builtins(rule).items()}


def _compiled(selector: LabelSelector) -> Selector:
    """An invalid selector, which no API server takes, selects nothing."""
    try:
        return selector_from_dict({key: value for key, value in msgspec.to_builtins(selector).items() if value})
    except MooringError:
        return NOTHING


# Each run looks at all roles, and an operator that is installed brings dozens of them at once.
_MIN_INTERVAL: Final = timedelta(milliseconds=200)

CONTROLLER: Final = Controller(
    "clusterrole-aggregation",
    reconcile,
    of=CLUSTER_ROLE,
    writes={CLUSTER_ROLE: ("create", "patch", "escalate")},
    min_interval=_MIN_INTERVAL,
)
