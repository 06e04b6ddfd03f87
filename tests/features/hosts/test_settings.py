"""How long hosts are waited for, as the command line says it."""

from __future__ import annotations

from datetime import timedelta

from mooring.catalog import CATALOG
from mooring.features.hosts.settings import SETTINGS, HostSettings
from mooring.runtime.settings import Configuration
from mooring.supervisor.configuration import parse_configuration
from mooring.testing.views import view_of


def told(configuration: Configuration) -> HostSettings:
    view = view_of(())
    view.settings = configuration.settings_of(SETTINGS)
    return HostSettings.of(view)


def test_every_setting_of_hosts_is_one_that_can_be_set() -> None:
    assert set(SETTINGS) <= set(CATALOG.settings)
    assert told(Configuration()) == HostSettings(
        heartbeat_timeout=timedelta(seconds=120),
        cleanup_timeout=timedelta(minutes=5),
        orphan_grace=timedelta(seconds=60),
        token_lifetime=timedelta(minutes=30),
        simulated_heartbeat=timedelta(seconds=30),
    )


def test_what_is_said_on_the_command_line_reaches_the_settings() -> None:
    flags = {"host-cleanup-timeout": "90s", "host-heartbeat-timeout": "4s", "bootstrap-token-lifetime": "1h30m"}
    found = told(parse_configuration((), flags))
    assert (found.cleanup_timeout, found.heartbeat_timeout) == (timedelta(seconds=90), timedelta(seconds=4))
    assert found.token_lifetime == timedelta(minutes=90)
