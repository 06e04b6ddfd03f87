"""Our own kinds and webhooks in the API server process of `mooring up`, and the rights of those who use them.

They are there before the first request; webhooks are called directly, as part of the write, without HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from mooring.catalog import CATALOG
from mooring.kube.conditions import conditions_of, is_true
from mooring.kube.objects import Object
from mooring.runtime.feature import Feature
from mooring.runtime.webhooks.direct import install
from mooring.runtime.webhooks.unloaded import UnloadedWebhook
from mooring.supervisor.own_api import OwnApi, OwnWebhook, have, read_own_api

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
    from mooring.registry import Registry
    from mooring.registry.core import Convert
    from mooring.runtime.settings import Configuration
    from mooring.runtime.webhooks.model import Webhook

__all__ = ["own_admission"]

_DEFINITION: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")


def own_admission(names: Collection[str], configuration: Configuration) -> Callable[[Registry], None]:
    """What puts our kinds, the chosen webhooks and all conversions into a registry."""
    chosen, now = frozenset(names), _now()
    known = read_own_api(now)
    own = [(feature, known.get(feature.name) or _declared(feature)) for feature in CATALOG.features]
    rules = CATALOG.rules(chosen)
    webhooks = [
        UnloadedWebhook(each.phase, each.entry, _loader(feature, each))
        for feature, api in own
        for each in api.webhooks
        if each.switch in chosen
    ]

    def prepare(registry: Registry) -> None:
        definitions = [(feature, each) for feature, api in own for each in api.definitions]
        _have_definitions(registry, [pair for pair in definitions if pair[0].serves_kinds(chosen)], now)
        for feature, each in definitions:
            # Conversions are part of the API, so nobody switches them off.
            if each["spec"]["conversion"]["strategy"] == "Webhook":
                group, kind = each["spec"]["group"], each["spec"]["names"]["kind"]
                registry.register_conversion(group, kind, _converter(feature, group, kind))
        for rule in rules:
            have(registry, rule, now)
        install(registry, webhooks, clock=_now, configuration=configuration)

    return prepare


def _declared(feature: Feature) -> OwnApi:
    """Of a feature that the product does not ship."""
    from mooring.supervisor.declared_api import declared_api

    return declared_api(feature)


def _have_definitions(registry: Registry, wanted: Sequence[tuple[Feature, Object]], now: datetime) -> None:
    """Leave alone what is there as it should be, and store what is not there as it is: it was checked when it was made.

    What was changed, or may contradict the definitions of others, is applied.
    """
    stored = {each["metadata"]["name"]: each for each in registry.list(registry.resource(*_DEFINITION)).items}
    names = {each["metadata"]["name"] for _, each in wanted}
    groups_of_others = {each["spec"]["group"] for name, each in stored.items() if name not in names}
    for feature, each in wanted:
        found = stored.get(each["metadata"]["name"])
        if found is None and each["spec"]["group"] not in groups_of_others:
            registry.adopt({**each, "metadata": {**each["metadata"], "uid": registry.naming.uid()}})
        elif found is None or not _is_same(found, each):
            have(registry, _definition(feature, each["spec"]["group"], each["spec"]["names"]["kind"]), now)


def _is_same(found: Object, wanted: Object) -> bool:
    ours = [(each["spec"], *map(each["metadata"].get, ("labels", "annotations"))) for each in (found, wanted)]
    return ours[0] == ours[1] and is_true(conditions_of(found), "Established")


# What loads features


def _definition(feature: Feature, group: str, kind: str) -> Object:
    from mooring.api.crds.resource import definition

    return definition(_resource(feature, group, kind))


def _converter(feature: Feature, group: str, kind: str) -> Convert:
    return lambda obj, version: _resource(feature, group, kind).convert(obj, version)


def _resource(feature: Feature, group: str, kind: str) -> CustomResource:
    (found,) = [each for each in feature.resources() if (each.group, each.kind) == (group, kind)]
    return found


def _loader(feature: Feature, webhook: OwnWebhook) -> Callable[[], Webhook]:
    def load() -> Webhook:
        (found,) = [each for each in feature.webhooks.load() if each.name == webhook.entry["name"]]
        return found

    return load


def _now() -> datetime:
    return datetime.now(UTC)
