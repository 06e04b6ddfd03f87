"""Durations as people write them on the command line: 90s, 5m, 1h30m."""

from __future__ import annotations

from datetime import timedelta

import click

__all__ = ["duration"]


def duration(context: click.Context, parameter: click.Parameter, value: str | None) -> timedelta | None:
    """The callback of an option that takes one."""
    if value is None:
        return None
    from mooring.nodes.simulated.pods import parse_duration

    found = parse_duration(value)
    if found is None:
        raise click.BadParameter(f'"{value}" is not a duration such as 90s, 5m or 1h30m')
    return found
