"""Durations as people write them on the command line: 90s, 5m, 1h30m."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

import click

from mooring.kube.durations import parse_duration

__all__ = ["duration", "lifetime"]

_LIFETIME: Final = re.compile(r"(?:(\d{1,5})d)?(?:(\d{1,7})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?").fullmatch


def duration(context: click.Context, parameter: click.Parameter, value: str | None) -> timedelta | None:
    """The callback of an option that takes one."""
    if value is None:
        return None
    found = parse_duration(value)
    if found is None:
        raise click.BadParameter(f'"{value}" is not a duration such as 90s, 5m or 1h30m, of at most 2562047h')
    return found


def lifetime(context: click.Context, parameter: click.Parameter, value: str | None) -> timedelta | None:
    """The same for what lasts days."""
    if value is None:
        return None
    found = _LIFETIME(value)
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0, 0)
    lasting = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if not lasting:
        raise click.BadParameter(f'"{value}" is not a time such as 30d, 12h or 1d12h')
    return lasting
