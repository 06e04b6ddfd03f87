"""Settings as controllers and webhooks see them: what a process is told at its start and does not change while it runs.

A feature declares a setting once. It is a flag of `mooring up`, `run` and `plan`, and whoever declares it asks the view
for it. `Configuration` is everything that a process was told, as it travels between processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Generic, NamedTuple, TypeVar

from mooring.kube.durations import parse_duration
from mooring.kube.errors import InputError, MooringError
from mooring.runtime.gates import FeatureGates, all_gates

__all__ = ["DEFAULTS", "Configuration", "Setting", "ToldSettings", "choice", "duration"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Setting(Generic[T]):
    """`name` is the flag without its dashes. `parse` raises InputError with what is allowed."""

    name: str
    default: T
    parse: Callable[[str], T]
    metavar: str
    help: str

    def read(self, text: str) -> T:
        try:
            return self.parse(text)
        except InputError as error:
            raise InputError(f'--{self.name}: "{text}" {error}') from None


def choice(name: str, choices: tuple[str, ...], default: str, described: str) -> Setting[str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise InputError(f"is none of {', '.join(choices)}")
        return text

    return Setting(name, default, parse, "|".join(choices), described)


def duration(name: str, default: timedelta, described: str) -> Setting[timedelta]:
    def parse(text: str) -> timedelta:
        found = parse_duration(text)
        if found is None:
            raise InputError("is not a duration such as 90s, 5m or 1h30m")
        return found

    return Setting(name, default, parse, "TIME", described)


class ToldSettings:
    """The settings of one controller or webhook."""

    def __init__(self, states: Mapping[Setting[Any], Any] | None = None) -> None:
        self._states = dict(states or {})

    def __getitem__(self, setting: Setting[T]) -> T:
        if setting not in self._states:
            raise MooringError(f"setting {setting.name} was not declared by the one that asks for it")
        state: T = self._states[setting]
        return state


class Configuration(NamedTuple):
    """Feature gates, and settings by name as they were written; what is not here has its default.

    `running` are the controllers and webhooks of this cluster that were chosen, by the words of `--controllers`.
    """

    gates: Mapping[str, bool] = {}
    settings: Mapping[str, str] = {}
    running: Sequence[str] = ()

    def settings_of(self, declared: Iterable[Setting[Any]]) -> ToldSettings:
        told = self.settings
        return ToldSettings(
            {each: each.read(told[each.name]) if each.name in told else each.default for each in declared}
        )

    def gates_of(self, declared: Mapping[str, bool]) -> FeatureGates:
        return FeatureGates(all_gates([declared], {name: self.gates[name] for name in declared if name in self.gates}))


DEFAULTS: Final = Configuration()
