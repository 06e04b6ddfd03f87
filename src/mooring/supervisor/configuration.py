"""What a command was told about features: feature gates and settings, checked before anything starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mooring.catalog import CATALOG
from mooring.kube.errors import InputError
from mooring.runtime.settings import Configuration

if TYPE_CHECKING:
    from mooring.catalog import Catalog

__all__ = ["parse_configuration", "parse_gates"]


def parse_configuration(gates: Sequence[str], settings: Mapping[str, str], catalog: Catalog = CATALOG) -> Configuration:
    """`gates` as `--feature-gates` has them, and settings by name as they were written."""
    for setting in catalog.settings:
        if setting.name in settings:
            setting.read(settings[setting.name])
    configuration = Configuration(parse_gates(gates, catalog.gates, catalog.refused_gates), settings)
    for feature in catalog.features:
        if problem := feature.contradiction(configuration):
            raise InputError(problem)
    return configuration


def parse_gates(
    words: Sequence[str], known: Mapping[str, bool], refused: Mapping[str, str] | None = None
) -> dict[str, bool]:
    """`a=true,b=false`, given once or several times, as what each of them is."""
    refused = refused or {}
    gates: dict[str, bool] = {}
    for word in (word.strip() for text in words for word in text.split(",")):
        name, equals, value = word.partition("=")
        if name not in known and name not in refused:
            there = f"there are {', '.join(sorted(known))}" if known else "this version has none"
            raise InputError(f'--feature-gates: there is no gate "{name}"; {there}')
        if not equals or value.lower() not in ("true", "false"):
            raise InputError(f'--feature-gates: "{word}" must be {name}=true or {name}=false')
        is_open = value.lower() == "true"
        if name in known:
            gates[name] = is_open
        elif is_open:
            raise InputError(f"--feature-gates: {name} cannot be opened: {refused[name]}")
    return gates
