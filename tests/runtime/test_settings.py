"""Settings reach the controllers and webhooks that declare them, as the command line has them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.catalog import Catalog
from mooring.kube.errors import InputError, MooringError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.feature import Feature
from mooring.runtime.settings import Configuration, Setting, choice, duration
from mooring.runtime.view import View
from mooring.runtime.webhooks.direct import install
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest
from mooring.supervisor.configuration import parse_configuration

TIDE = choice("tide", ("high", "low"), "low", "When ships leave.")
WAIT = duration("wait", timedelta(minutes=5), "How long they wait.")


def asking(found: list[object], declared: tuple[Setting[Any], ...]) -> Controller:
    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        found.extend((view.settings[TIDE], view.settings[WAIT]))
        return Decision()

    return Controller("asking", reconcile, settings=declared)


@pytest.mark.parametrize(
    ("told", "seen"),
    [
        ({}, ["low", timedelta(minutes=5)]),
        ({"tide": "high", "wait": "1m30s"}, ["high", timedelta(seconds=90)]),
    ],
)
def test_a_controller_sees_its_settings(told: dict[str, str], seen: list[object]) -> None:
    found: list[object] = []
    Simulation([asking(found, (TIDE, WAIT))], configuration=Configuration(settings=told)).run()
    assert found == seen


def test_a_setting_is_declared_by_who_asks_for_it() -> None:
    with pytest.raises(MooringError, match="setting wait was not declared"):
        Simulation([asking([], (TIDE,))]).run()


def test_a_webhook_sees_its_gates_and_settings() -> None:
    def admit(request: WebhookRequest, view: View) -> Admitted | Denied:
        return Denied(f"{view.settings[TIDE]} tide, ferry {view.gates.enabled('Ferry')}")

    webhook = Webhook(
        "maps.example.com",
        "validating",
        admit,
        (Rule("v1", "configmaps"),),
        gates={"Ferry": False},
        settings=(TIDE,),
    )
    registry = Registry(now=START)
    install(registry, [webhook], clock=lambda: START, configuration=Configuration({"Ferry": True}, {"tide": "high"}))
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "default"}}
    with pytest.raises(MooringError, match="high tide, ferry True"):
        registry.create(registry.resource("v1", "ConfigMap"), config_map, now=START)


def test_what_is_wrong_is_said_before_anything_starts() -> None:
    def contradiction(configuration: Configuration) -> str:
        return "--tide high and --wait exclude each other; drop one" if len(configuration.settings) == 2 else ""

    harbour = Feature(
        "harbour", settings=(TIDE, WAIT), refused_gates={"Submarine": "there is none"}, contradiction=contradiction
    )
    catalog = Catalog([harbour])
    assert parse_configuration(["Submarine=false"], {"tide": "high"}, catalog) == Configuration({}, {"tide": "high"})
    for gates, told, said in (
        ([], {"tide": "ebb"}, '--tide: "ebb" is none of high, low'),
        ([], {"wait": "soon"}, '--wait: "soon" is not a duration such as 90s, 5m or 1h30m'),
        ([], {"tide": "high", "wait": "1m"}, "exclude each other; drop one"),
        (["Submarine=true"], {}, "--feature-gates: Submarine cannot be opened: there is none"),
    ):
        with pytest.raises(InputError, match=said):
            parse_configuration(gates, told, catalog)
