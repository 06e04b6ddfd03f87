"""What a provider says of clusters that are drawn, and what each version and repository has installed."""

from __future__ import annotations

import itertools
import json
from typing import Any, Final

import msgspec

from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.runway.operations.installation import commands_by_hand
from mooring.runway.providers.provider import ProviderFacts
from mooring.runway.providers.registry import (
    PROVIDERS,
    default_provider,
    find_installable,
    find_provider,
)
from mooring.runway.settings import RunwaySettings, runway_settings
from tests.support.golden import same_as_recorded

VERSIONS: Final = ("0.8.0", "0.7.9", "0.6.1-rc.1", "1.0.0", "0.10.0")
IMAGES: Final = ("example.com/workspace:v0.8.0", "example.com/workspace:0.6.0", "example.com/workspace", "")
PHASES: Final = (
    "Pending", "Checking", "Installing", "Installed", "Upgrading", "RollingBack", "Uninstalling", "Failed", "Cancelled",
    "",
)  # fmt: skip
FLAGS: Final[tuple[dict[str, str], ...]] = (
    {},
    {"kaito_version": "0.6"},
    {"kaito_version": "v0.8.0"},
    {"kaito_version": "0.9.0-rc.1", "kaito_repository": "https://example.com/charts/"},
    {"kaito_repository": "example.com/charts"},
    {"kaito_repository": "oci://example.com/charts"},
    {"kaito_repository": "https://example.com/a b"},
    {"gpu_operator_version": "25.3.0", "gpu_operator_repository": "http://example.com"},
    {"gpu_operator_version": "latest"},
    {"gpu_operator_repository": "ftp://example.com"},
    {"kaito_version": "0.8.0'"},
)


def operator(image: str, phase: str, ready: str) -> Object:
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]}
    return {"spec": {"containers": [{"image": image}]}, "status": status}


def drawn_facts() -> dict[str, ProviderFacts]:
    pods: dict[str, list[Object]] = {"no pods": [], "an empty pod": [{}]}
    for image, phase, ready in itertools.product(IMAGES, ("Running", "Pending"), ("True", "False")):
        pods[f"{image} {phase} {ready}"] = [operator(image, phase, ready)]
    pods["one of two"] = [operator(IMAGES[0], "Pending", "False"), operator(IMAGES[1], "Running", "True")]
    found = {}
    phases: tuple[str | None, ...] = (None, *PHASES)
    for served, (name, each), reached in itertools.product((True, False), pods.items(), phases):
        installation: Object | None = None if reached is None else {"status": {"phase": reached} if reached else None}
        found[f"served {served}, {name}, {reached}"] = ProviderFacts(served, each, installation)
    return found


def test_every_provider_says_of_every_cluster_what_is_recorded() -> None:
    found = {}
    for number, (name, facts) in enumerate(drawn_facts().items()):
        settings = RunwaySettings(kaito_version=VERSIONS[number % len(VERSIONS)])
        for provider in PROVIDERS.values():
            status = msgspec.to_builtins(provider.status(facts, settings))
            found[f"{provider.id} {settings.kaito_version}, {name}"] = json.dumps(status, indent=0)
    same_as_recorded("runway-facts", found)


def _installed(settings: RunwaySettings) -> Any:
    told: dict[str, Any] = {}
    for name in (*PROVIDERS, "gpu-operator"):
        each = find_installable(name)
        made = each.installation(settings)
        told[name] = {"installation": made, "by hand": commands_by_hand(made) if made else None}
    for name, provider in PROVIDERS.items():
        told[name] |= {
            "steps": msgspec.to_builtins(provider.installation_steps(settings)),
            "repositories": msgspec.to_builtins(provider.helm_repositories(settings)),
            "charts": msgspec.to_builtins(provider.helm_charts(settings)),
            "takes": [(each.group_version, each.plural, each.kind) for each in provider.crds],
            "operators": msgspec.to_builtins(provider.operators),
            "definitions": provider.definitions,
            "says": [provider.id, provider.name, provider.description, provider.default_namespace],
        }
    return told


def test_what_is_installed_is_recorded_for_all_settings() -> None:
    found = {}
    for flags in FLAGS:
        try:
            told = json.dumps(_installed(runway_settings(**flags)), indent=0)
        except InputError as error:
            told = f"{error.path}: {error}"
        found[json.dumps(flags)] = told
    for version in VERSIONS:
        found[version] = json.dumps(_installed(RunwaySettings(kaito_version=version)), indent=0)
    for name in ("kaito", "kait", "mooring", "", "gpu", "gpu-operator", "nobody"):
        for find in (find_provider, find_installable):
            try:
                told = find(name).name
            except InputError as error:
                told = str(error)
            found[f"{find.__name__} {name!r}"] = told
    found["the usual one"] = f"{default_provider(embedded=True).id} {default_provider(embedded=False).id}"
    same_as_recorded("runway-installed", found)
