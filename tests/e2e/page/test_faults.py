"""What goes wrong while somebody looks: the page says so, keeps what it had, and goes on by itself."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import httpx2
import playwright.sync_api as playwright
import pytest
from playwright.sync_api import expect

from mooring.testing.tools import tool
from tests.cli.embedded import Up, eventually
from tests.e2e.page.browser import Visitor, visiting
from tests.support.chart_repositories import chart_repository

pytestmark = pytest.mark.slow

LATE = {"name": "late-1", "annotations": {"kwok.x-k8s.io/node": "fake"}}


def _created(client: httpx2.Client) -> bool:
    try:
        return client.post("/api/v1/nodes", json={"apiVersion": "v1", "kind": "Node", "metadata": LATE}).is_success
    except httpx2.TransportError:
        return False


def _free_hosts(up: Up) -> int:
    hosts = up.get("/apis/infrastructure.cluster.x-k8s.io/v1beta1/byohosts")["items"]
    return sum(host.get("status", {}).get("phase") == "Available" for host in hosts)


def kubectl(up: Up, *words: str) -> None:
    subprocess.run([str(tool("kubectl")), "--kubeconfig", str(up.kubeconfig), *words], check=True, capture_output=True)


def test_an_api_server_that_is_killed_comes_back_without_a_reload(visitor: Visitor, up: Up) -> None:
    visitor.page.evaluate("window.stayed = true")
    os.kill(up.child("server"), signal.SIGKILL)
    with up.client() as client:
        eventually(lambda: _created(client), "the API server is back")
    visitor.page.get_by_label("Filter nodes").fill("late-1")
    expect(visitor.page.get_by_text("1 of 31 nodes")).to_be_visible(timeout=30_000)
    assert visitor.page.evaluate("window.stayed") is True


def test_a_page_server_that_is_killed_is_noticed_and_followed_again(visitor: Visitor, up: Up) -> None:
    visitor.page.evaluate("window.stayed = true")
    rest = up.child("rest")
    os.kill(rest, signal.SIGSTOP)
    os.kill(rest, signal.SIGKILL)
    expect(visitor.page.locator(".live")).to_contain_text("Lost")
    expect(visitor.page.locator(".live")).to_contain_text("Live", timeout=30_000)
    assert visitor.page.evaluate("window.stayed") is True


def test_kaito_beside_our_own_workspaces_is_refused_with_the_way_out(visitor: Visitor) -> None:
    visitor.goes_to("/installation")
    visitor.page.get_by_role("region", name="KAITO").get_by_role("button", name="Install").click()
    expect(visitor.page.get_by_role("region", name="KAITO")).to_contain_text("--controllers")


def test_an_installation_that_fails_says_why_and_is_mended(
    chromium: playwright.Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("install")
    with chart_repository(folder / "charts") as repository:
        arguments = (
            "--controllers",
            "-workspaces,-process-node",
            "--kaito-repository",
            repository,
            "--helm",
            str(tool("helm")),
        )
        up = Up(folder, "--ui-port", "0", *arguments, "--kaito-version", "9.9.9").ready()
        try:
            with visiting(chromium, up) as visitor:
                visitor.signs_in().goes_to("/installation")
                kaito = visitor.page.get_by_role("region", name="KAITO")
                kaito.get_by_role("button", name="Install").click()
                expect(kaito).to_contain_text("has no chart kaito/workspace of version 9.9.9; nothing was changed")
                expect(kaito.get_by_text("Failed").first).to_be_visible()
        finally:
            up.stop()


def test_a_pool_of_every_replica_grows_while_somebody_looks(
    chromium: playwright.Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    examples = Path(__file__).parents[3] / "examples/replica-pools"
    folder = tmp_path_factory.mktemp("pools")
    up = Up(folder, "--ui-port", "0", "--fleet", str(examples / "fleet.yaml"), "--controllers", "-process-node").ready()
    try:
        with visiting(chromium, up) as visitor:
            eventually(lambda: _free_hosts(up) == 8, "the hosts are there")
            visitor.signs_in().goes_to("/pools")
            visitor.sees("8 are free")
            kubectl(up, "apply", "-f", str(examples / "set.yaml"), "-f", str(examples / "policy.yaml"))
            visitor.sees("deepseek-0")
            visitor.sees("deepseek-1")
            timeline = visitor.page.get_by_role("region", name="Timeline")
            expect(timeline.get_by_role("button", name="2 nodes now")).to_have_count(2, timeout=30_000)
            expect(timeline).to_contain_text("The autoscaler scaled it from 0 to 2, for ")
            told = timeline.get_by_role("listitem").filter(has_text="joined as")
            expect(told.filter(has_text="deepseek-1")).not_to_have_count(0)
            timeline.get_by_role("button", name="deepseek-0").click()
            expect(told.filter(has_text="deepseek-1")).to_have_count(0)
            expect(told).not_to_have_count(0)
            assert visitor.complaints() == []
            visitor.is_kept("timeline")
            visitor.goes_to("/workloads/LeaderWorkerSet/serving/deepseek")
            expect(visitor.page.locator(".pagehead .state")).to_have_text("Ready", timeout=60_000)
            assert visitor.page.locator(".unit .hull").count() == 4
    finally:
        up.stop()
