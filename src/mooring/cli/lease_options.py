"""The options of `mooring run` about leader election, with the names that the components of Kubernetes give them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from mooring.cli.durations import duration
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.runtime.drivers.leaderelection import LeaseConfig

__all__ = ["lease_options"]


def lease_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command these options; they arrive as its argument `lease_config`."""

    @wraps(command)
    def with_options(
        *args: Any, lease_duration: timedelta, renew_deadline: timedelta, retry_period: timedelta, **options: Any
    ) -> int:
        return command(*args, lease_config=_checked(lease_duration, renew_deadline, retry_period), **options)

    flagged: Callable[..., int] = with_options
    for add_flag in reversed(_FLAGS):
        flagged = add_flag(flagged)
    return flagged


def _checked(lasting: timedelta, deadline: timedelta, retry: timedelta) -> LeaseConfig:
    from mooring.runtime.drivers.leaderelection import JITTER, LeaseConfig

    if lasting < timedelta(seconds=1):
        raise InputError("--leader-elect-lease-duration must be 1s or more: a Lease counts in whole seconds")
    if deadline >= lasting:
        raise InputError(
            "--leader-elect-renew-deadline must be less than --leader-elect-lease-duration, "
            "so that a leader stops before another one begins"
        )
    if retry <= timedelta(0) or retry * (1 + JITTER) >= deadline:
        raise InputError(
            f"--leader-elect-retry-period must be more than 0 and, times {1 + JITTER}, "
            "less than --leader-elect-renew-deadline, so that a Lease is renewed in time"
        )
    return LeaseConfig(lasting.total_seconds(), deadline.total_seconds(), retry.total_seconds())


_FLAGS = (
    click.option(
        "--leader-elect-lease-duration",
        "lease_duration",
        default="15s",
        show_default=True,
        callback=duration,
        metavar="TIME",
        help="How long replicas wait for a leader that is not heard of before another one leads.",
    ),
    click.option(
        "--leader-elect-renew-deadline",
        "renew_deadline",
        default="10s",
        show_default=True,
        callback=duration,
        metavar="TIME",
        help="When a leader that cannot renew its Lease stops writing.",
    ),
    click.option(
        "--leader-elect-retry-period",
        "retry_period",
        default="2s",
        show_default=True,
        callback=duration,
        metavar="TIME",
        help="How often a Lease is renewed, and looked at by those who wait for it.",
    ),
)
