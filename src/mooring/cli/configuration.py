"""`--feature-gates` and the flags of the features, which `up`, `run`, `plan` and `explain` have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from mooring.runtime.settings import Configuration, Setting

__all__ = ["configured"]


def configured(settings: Sequence[Setting[Any]]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command these flags; what they say arrives, checked, as its argument `configuration`."""
    names = {setting.name.replace("-", "_"): setting.name for setting in settings}

    def add_flags(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def with_configuration(*args: Any, gates: tuple[str, ...], **options: Any) -> int:
            given = {name: options.pop(option) for option, name in names.items()}
            told = {name: text for name, text in given.items() if text is not None}
            return command(*args, configuration=_parse(gates, told), **options)

        flagged: Callable[..., int] = with_configuration
        for setting in reversed(settings):
            flagged = click.option(f"--{setting.name}", metavar=setting.metavar, help=setting.help)(flagged)
        return click.option(
            "--feature-gates", "gates", multiple=True, metavar="NAME=BOOL", help="Features to open or close."
        )(flagged)

    return add_flags


def _parse(gates: tuple[str, ...], settings: dict[str, str]) -> Configuration:
    from mooring.supervisor.configuration import parse_configuration

    return parse_configuration(gates, settings)
