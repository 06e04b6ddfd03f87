"""What a feature adds to the API, as its declaration says. Loads the feature, unlike what was made of it before.

Definitions go through a registry, because what is stored of one has defaults, managers and a status as well.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from mooring.api.crds.resource import definition
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.registry import Registry
from mooring.runtime.feature import Feature
from mooring.runtime.webhooks.configuration import hook_entry
from mooring.supervisor.own_api import EPOCH, OwnApi, OwnWebhook, have

__all__ = ["api_text", "declared_api"]


def declared_api(feature: Feature) -> OwnApi:
    webhooks = feature.webhooks.all(lambda part: part.switch)
    return OwnApi(
        [_stored(definition(each)) for each in feature.resources()],
        [OwnWebhook(each.switch, each.phase, hook_entry(each, {})) for each in webhooks],
    )


def _stored(wanted: Object) -> Object:
    registry, now = Registry(), moment(EPOCH)
    have(registry, wanted, now)
    found = registry.find(wanted["apiVersion"], wanted["kind"], "", wanted["metadata"]["name"])
    assert found is not None, "it was applied"
    given_at_a_start = ("uid", "resourceVersion")
    return {**found, "metadata": {key: each for key, each in found["metadata"].items() if key not in given_at_a_start}}


def api_text(features: Iterable[Feature]) -> str:
    """The data of these features: JSON with one definition and one webhook in a line."""
    return "{\n" + ",\n".join(f'"{each.name}": {_text(declared_api(each))}' for each in features) + "\n}\n"


def _text(api: OwnApi) -> str:
    definitions, webhooks = (
        ",".join(f"\n{msgspec.json.encode(each).decode()}" for each in parts)
        for parts in (api.definitions, api.webhooks)
    )
    return f'{{"definitions": [{definitions}], "webhooks": [{webhooks}]}}'
