"""ClusterRoles as the controller of their aggregation sees them."""

from __future__ import annotations

import msgspec

from mooring.api.core.types import LabelSelector, View
from mooring.api.meta import Meta


class PolicyRule(View, frozen=True, omit_defaults=True):
    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")


class AggregationRule(View, frozen=True):
    cluster_role_selectors: tuple[LabelSelector, ...] = ()


class ClusterRole(View, frozen=True):
    metadata: Meta = Meta()
    rules: tuple[PolicyRule, ...] | None = None
    aggregation_rule: AggregationRule | None = None
