"""Timeouts of hosts as the command line sets them."""

from __future__ import annotations

from datetime import timedelta

from mooring.supervisor.timeouts import parse_timeouts

from mooring.catalog import CATALOG
from mooring.features.hosts.settings import TIMEOUTS, HostSettings


def test_every_timeout_of_hosts_is_one_that_can_be_set() -> None:
    assert TIMEOUTS.items() <= CATALOG.timeouts.items()
    assert TIMEOUTS["host-cleanup"] == timedelta(minutes=5)
    assert TIMEOUTS["host-heartbeat"] == timedelta(seconds=120)


def test_what_is_said_on_the_command_line_reaches_the_settings() -> None:
    found = parse_timeouts(("host-cleanup=90s,host-heartbeat=4s", "bootstrap-token=1h30m"))
    assert HostSettings.of(found) == HostSettings(
        cleanup_timeout=timedelta(seconds=90),
        heartbeat_timeout=timedelta(seconds=4),
        token_lifetime=timedelta(minutes=90),
    )
