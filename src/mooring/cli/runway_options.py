"""The options that say which KAITO is installed, and from where."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

__all__ = ["runway_options"]

F = TypeVar("F", bound=Callable[..., object])


def runway_options(command: F) -> F:
    """`--kaito-version` and `--kaito-repository`."""
    version = click.option(
        "--kaito-version",
        metavar="VERSION",
        envvar="MOORING_KAITO_VERSION",
        help="The version of KAITO that is installed.  [default: 0.8.0]",
    )
    repository = click.option(
        "--kaito-repository",
        metavar="URL",
        envvar="MOORING_KAITO_REPOSITORY",
        help="The Helm repository that KAITO comes from.",
    )
    return version(repository(command))
