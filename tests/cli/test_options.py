"""Options that several commands share: what of them arrives, at each of their limits and one step beyond."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from mooring.cli.durations import duration, lifetime
from mooring.cli.errors import Command, exit_code
from mooring.cli.lease_options import lease_options
from mooring.cli.webhook_options import WebhookOptions, webhook_options
from mooring.runtime.drivers.leaderelection import LeaseConfig
from mooring.runtime.settings import DEFAULTS
from mooring.runtime.webhooks.keys import CERTIFICATE_LIFE

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def given(options: Any, *words: str) -> tuple[Any, str]:
    """What arrives at a command with these options, and what is complained of."""
    arrived: dict[str, Any] = {}

    def arrive(**values: Any) -> int:
        arrived.update(values)
        return 0

    command = click.command(cls=Command)(exit_code(options(arrive)))
    done = CliRunner().invoke(command, list(words))
    assert done.exit_code == (1 if done.stderr else 0), done.output
    return arrived, done.stderr


def _of_lease(lasting: str, deadline: str, retry: str) -> list[str]:
    names = ("lease-duration", "renew-deadline", "retry-period")
    return [
        word
        for name, value in zip(names, (lasting, deadline, retry), strict=True)
        for word in (f"--leader-elect-{name}", value)
    ]


def test_a_lease_is_the_one_that_kubernetes_takes_unless_told() -> None:
    assert given(lease_options) == ({"lease_config": LeaseConfig(15.0, 10.0, 2.0)}, "")


@pytest.mark.parametrize(
    ("spans", "problem"),
    [
        (("1s", "900ms", "700ms"), ""),
        (("999ms", "900ms", "700ms"), "--leader-elect-lease-duration must be 1s or more: a Lease counts"),
        (("10s", "9999ms", "1s"), ""),
        (("10s", "10s", "1s"), "--leader-elect-renew-deadline must be less than --leader-elect-lease-duration, "),
        (("10s", "6s", "4999ms"), ""),
        (("10s", "6s", "5s"), "--leader-elect-retry-period must be more than 0 and, times 1.2, "),
        (("10s", "6s", "1ms"), ""),
        (("10s", "6s", "0s"), "--leader-elect-retry-period must be more than 0 and, times 1.2, "),
    ],
)  # fmt: skip
def test_spans_of_a_lease_leave_each_other_room(spans: tuple[str, str, str], problem: str) -> None:
    arrived, told = given(lease_options, *_of_lease(*spans))
    assert told.startswith(f"error: {problem}") if problem else not told
    assert bool(arrived) is not bool(problem)


@pytest.mark.parametrize(
    ("text", "lasting"),
    [
        ("1s", timedelta(seconds=1)),
        ("2d", 2 * DAY),
        ("1d12h", DAY + 12 * HOUR),
        ("3h4m5s", 3 * HOUR + timedelta(minutes=4, seconds=5)),
        ("99999d", 99999 * DAY),
        *((text, None) for text in ("", "0d", "0s", "100000d", "1h1d", "5", "-1d", "1.5h", "1d ", "x1d")),
    ],
)
def test_what_lasts_days_is_written_with_days(text: str, lasting: timedelta | None) -> None:
    context, option = click.Context(click.Command("x")), click.Option(["--x"])
    if lasting is not None:
        assert lifetime(context, option, text) == lasting
        return
    with pytest.raises(click.BadParameter, match=f'"{text}" is not a time such as 30d, 12h or 1d12h'):
        lifetime(context, option, text)


def test_a_duration_that_is_not_given_is_none() -> None:
    context, option = click.Context(click.Command("x")), click.Option(["--x"])
    assert duration(context, option, None) is None
    assert lifetime(context, option, None) is None
    assert duration(context, option, "1h30m") == HOUR * 1.5
    with pytest.raises(click.BadParameter):
        duration(context, option, "1d")


URL, SERVICE, SECRET = ("--webhook-url", "https://h:1"), ("--webhook-service", "s:2"), ("--webhook-secret", "kept")
FOLDER, PORT, LIFE = ("--webhook-certificates", "d"), ("--webhook-port", "7"), ("--webhook-certificate-lifetime", "2d")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), WebhookOptions()),
        (URL, WebhookOptions(url="https://h:1")),
        ((*SERVICE, *SECRET), WebhookOptions(service="s:2", secret="kept")),
        ((*URL, *FOLDER, *PORT, *LIFE), WebhookOptions("https://h:1", None, 7, Path("d"), None, 2 * DAY)),
    ],
)
def test_what_is_said_of_webhooks_arrives_together(words: tuple[str, ...], expected: WebhookOptions) -> None:
    assert given(webhook_options, *words) == ({"webhook_options": expected}, "")
    assert expected.check() is (expected != WebhookOptions())


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (WebhookOptions("https://h:1", "s:2"), "--webhook-url and --webhook-service are two ways"),
        (WebhookOptions("https://h:1", folder=Path("d"), secret="s"), "--webhook-certificates and --webhook-secret"),
        (WebhookOptions("http://h"), "--webhook-url"),
        (WebhookOptions(service="S!"), "--webhook-service"),
        (WebhookOptions(folder=Path("d")), "--webhook-certificates is of no use without --webhook-url"),
        (WebhookOptions(secret="s"), "--webhook-secret is of no use without --webhook-url"),
        (WebhookOptions(port=1), "--webhook-port is of no use without --webhook-url"),
        (WebhookOptions(life=DAY), "--webhook-certificate-lifetime is of no use without --webhook-url"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_of_webhooks_is_refused(options: WebhookOptions, problem: str) -> None:
    from mooring.kube.errors import InputError

    with pytest.raises(InputError) as refused:
        options.check()
    assert str(refused.value).startswith(problem)


@pytest.mark.parametrize(
    ("options", "said", "kept", "port", "life"),
    [
        (WebhookOptions("https://h:1"), "--webhook-url https://h:1", Path("scratch"), None, CERTIFICATE_LIFE),
        (WebhookOptions("https://h:1", None, 7, Path("d"), None, DAY), "--webhook-url https://h:1", Path("d"), 7, DAY),
        (WebhookOptions(None, "s:2", secret="kept"), "--webhook-service s:2", "kept", None, CERTIFICATE_LIFE),
    ],
)
def test_webhooks_are_served_as_was_asked(
    options: WebhookOptions, said: str, kept: Path | str, port: int | None, life: timedelta
) -> None:
    found = options.serving((), (), DEFAULTS, namespace="mine", scratch=Path("scratch"))
    assert options.asked_for == said
    assert (found.certificates, found.port, found.life) == (kept, port, life)
    assert found.configuration is DEFAULTS
    assert "mine" in str(found.target) if options.service else "h" in str(found.target)
