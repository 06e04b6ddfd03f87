"""Charts installed by real Helm, as people have it done: every story ends with what Helm itself says of the release."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from mooring.testing.fixtures import missing
from mooring.testing.homes import EMBEDDED, HOMES
from mooring.testing.tools import ToolMissing, tool
from tests.e2e.installations import NODE, PATH, InstallationSite, site_in

pytestmark = pytest.mark.slow

GATES = {"featureGates": {"disableNodeAutoProvisioning": True}, "odd.key": "a,b"}


@pytest.fixture(scope="module", params=HOMES)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstallationSite]:
    try:
        with site_in(request.param, tmp_path_factory.mktemp(f"{request.param}-installations")) as found:
            yield found
    except ToolMissing as error:
        missing(error)


def test_kaito_is_installed_upgraded_rolled_back_and_uninstalled(site: InstallationSite) -> None:
    site.asks("kaito", version="0.6.0")
    assert site.ended("kaito")["phase"] == "Installed"
    found = site.release("kaito")
    assert found is not None
    assert (found["chart"], found["status"], found["revision"]) == ("workspace-0.6.0", "deployed", "1")
    # The new version brings a definition, which is made although Helm makes none in an upgrade.
    site.turns_to("kaito", "kaito/workspace", "0.8.0", values=GATES)
    status = site.ended("kaito")
    (release,) = status["releases"]
    assert (status["phase"], release["version"], release["revision"]) == ("Installed", "0.8.0", 2)
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert site.api.get(f"{crds}/standins.charts.example.com").code == 200
    settings = site.api.get("/api/v1/namespaces/kaito/configmaps/kaito-settings").body["data"]
    assert json.loads(settings["gates"]) == {"disableNodeAutoProvisioning": True, "vLLM": True}
    assert json.loads(site.helm("get", "values", "kaito", "-n", "kaito", "-o", "json")) == GATES
    site.change("kaito", rollbackTo=1)
    status = site.ended("kaito")
    assert site.reason("kaito") == "RolledBack"
    found = site.release("kaito")
    assert found is not None
    assert (found["chart"], found["status"], found["revision"]) == ("workspace-0.6.0", "deployed", "3")
    site.deletes("kaito")
    assert site.release("kaito") is None
    site.until(lambda: not site.has_namespace("kaito"), "the namespace that it made is deleted")


def test_a_version_that_is_not_there_changes_nothing(site: InstallationSite) -> None:
    site.asks("absent", version="9.9.9")
    status = site.ended("absent")
    assert (status["phase"], site.reason("absent")) == ("Failed", "ChartNotFound")
    assert "has no chart workspace of version 9.9.9; nothing was changed" in status["message"]
    assert not site.has_namespace("absent")
    assert [step["state"] for step in status["steps"]][:2] == ["Failed", "Waiting"]
    site.deletes("absent")


def test_a_chart_that_the_cluster_refuses_is_a_failure_that_can_be_mended(site: InstallationSite) -> None:
    site.asks("broken", "broken", "1.0.0")
    status = site.ended("broken")
    assert (status["phase"], site.reason("broken")) == ("Failed", "HelmFailed")
    assert "Not_A_Name" in status["message"]
    found = site.release("broken")
    assert found is not None
    assert found["status"] == status["releases"][0]["status"] == "failed"
    site.turns_to("broken", "workspace", "0.8.0")
    assert site.ended("broken")["phase"] == "Installed"
    found = site.release("broken")
    assert found is not None
    assert (found["chart"], found["status"]) == ("workspace-0.8.0", "deployed")


def test_a_chart_that_does_not_become_ready_is_out_of_time(site: InstallationSite) -> None:
    site.asks("late", "slow", "1.0.0", timeoutSeconds=3)
    status = site.ended("late")
    assert (status["phase"], site.reason("late")) == ("Failed", "TimedOut")
    assert " is not ready: late/late" in status["message"]
    found = site.release("late")
    assert found is not None
    assert found["status"] == status["releases"][0]["status"] == "failed"


def test_what_is_cancelled_says_so_and_goes_on_later(site: InstallationSite) -> None:
    site.asks("halted", "slow", "1.0.0")
    site.until(lambda: site.release("halted") is not None, "Helm is at work")
    # The output is shown while the step runs.
    waiting = "Deployment is not ready: halted/halted. 0 out of 1 expected pods are ready"
    site.until(lambda: waiting in site.status("halted")["steps"][-1].get("output", ""), "output")
    assert site.status("halted")["steps"][-1]["state"] == "Running"
    site.change("halted", suspend=True)
    status = site.ended("halted")
    assert (status["phase"], status["steps"][-1]["state"]) == ("Cancelled", "Cancelled")
    site.until(lambda: site.status("halted")["effects"]["helm-install"]["phase"] == "Cancelled", "Helm has ended")
    found = site.release("halted")
    assert found is not None
    assert found["status"] == site.status("halted")["releases"][0]["status"] == "failed"
    site.turns_to("halted", "workspace", "0.8.0", suspend=False)
    assert site.ended("halted")["phase"] == "Installed"


def test_a_killed_controller_is_followed_by_one_that_goes_on(site: InstallationSite) -> None:
    site.asks("killed", "slow", "1.0.0")
    site.until(lambda: (site.release("killed") or {}).get("status") == "pending-install", "Helm is in the middle")
    site.kill()
    # Now its pods can start.
    body = {"metadata": {"labels": {"example.com/nowhere": "yes"}}}
    assert site.api.patch(f"/api/v1/nodes/{NODE}", "merge", body).code == 200
    try:
        status = site.ended("killed")
    finally:
        site.api.patch(f"/api/v1/nodes/{NODE}", "merge", {"metadata": {"labels": {"example.com/nowhere": None}}})
    assert status["phase"] == "Installed", status
    found = site.release("killed")
    assert found is not None
    assert found["status"] == "deployed"
    assert status["steps"][-1]["run"].endswith("-2")


def test_somebody_elses_pending_release_is_seen_and_in_the_end_recovered(site: InstallationSite) -> None:
    """A person's Helm is killed in the middle of an installation, and leaves the release pending."""
    command = [str(tool("helm")), "install", "other", "slow", "--repo", site.url, "-n", "other", "--create-namespace"]
    environment = {**os.environ, "KUBECONFIG": str(site.home.kubeconfig)}
    with subprocess.Popen(
        [*command, "--wait"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as person:
        site.until(lambda: (site.release("other") or {}).get("status") == "pending-install", "a person installs")
        os.kill(person.pid, signal.SIGKILL)
    site.asks("other", timeoutSeconds=12)
    site.until(lambda: site.reason("other") == "ReleasePending", "it is seen")
    assert "release other is pending-install by somebody else's Helm" in site.status("other")["message"]
    assert site.ended("other")["phase"] == "Installed"
    found = site.release("other")
    assert found is not None
    assert (found["chart"], found["status"]) == ("workspace-0.8.0", "deployed")


def test_a_namespace_with_workloads_in_it_outlives_the_installation(site: InstallationSite) -> None:
    site.asks("shared")
    assert site.ended("shared")["phase"] == "Installed"
    pod = {"metadata": {"name": "mine"}, "spec": {"containers": [{"name": "main", "image": "serve:1"}]}}
    site.until(lambda: site.api.post("/api/v1/namespaces/shared/pods", pod).code in (201, 409), "a pod is made")
    site.deletes("shared")
    assert site.release("shared") is None
    assert site.has_namespace("shared")
    assert site.api.get("/api/v1/namespaces/shared/pods/mine").code == 200
    events = site.api.get("/api/v1/namespaces/default/events").body["items"]
    told = [each["message"] for each in events if each["reason"] == "NamespaceKept"]
    assert any(text.startswith("namespace shared stays, because it holds Pod mine") for text in told)


def test_helm_can_do_no_more_than_who_asked_for_it(site: InstallationSite) -> None:
    rules = [{"apiGroups": ["runway.mooring.dev"], "resources": ["installations"], "verbs": ["create"]}]
    rules.append({"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]})
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    assert site.api.post(f"{rbac}/clusterroles", {"metadata": {"name": "reader"}, "rules": rules}).code == 201
    binding = {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "reader"}],
    }
    assert site.api.post(f"{rbac}/clusterrolebindings", binding).code == 201
    # The real server hears of a new binding through a watch of its own, a moment after it answered.
    site.until(lambda: site.asks("small", user="reader").code == 201, "the reader's rights are in force")
    status = site.ended("small")
    assert (status["phase"], site.reason("small")) == ("Failed", "Forbidden")
    assert status["message"].startswith("reader may not do what step ")
    assert (site.release("small"), site.has_namespace("small")) == (None, False)
    stamped = site.api.get(f"{PATH}/small").body["spec"]["requestedBy"]
    assert stamped["username"] == "reader"
    site.deletes("small")


def test_the_command_installs_kaito_or_names_the_flag_that_makes_room_for_it(site: InstallationSite) -> None:
    asked = ("install", "kaito", "--kaito-repository", site.url)
    if site.home.name == EMBEDDED:
        # Our own Workspace controller runs there.
        refused = site.mooring(*asked)
        assert refused.returncode == 2
        assert "start Mooring with --controllers -workspaces, which switches it off" in refused.stdout
        assert site.release("kaito-workspace") is None
    else:
        done = site.mooring(*asked, "-o", "json")
        assert done.returncode == 0, done.stderr
        assert "Install kaito/workspace 0.8.0 as kaito-workspace: done" in done.stderr
        assert json.loads(done.stdout)["status"]["phase"] == "Installed"
        found = site.release("kaito-workspace")
        assert found is not None
        assert (found["chart"], found["status"], found["revision"]) == ("workspace-0.8.0", "deployed", "1")
        back = site.mooring("install", "kaito", "--rollback", "9")
        assert (back.returncode, "release has no 9 version" in back.stdout) == (2, True)
    listed = json.loads(site.mooring("installations", "-o", "json").stdout)["installations"]
    assert "kaito" in [each["metadata"]["name"] for each in listed]
    gone = site.mooring("uninstall", "kaito")
    assert (gone.returncode, gone.stdout) == (0, "KAITO is uninstalled\n")
    assert site.release("kaito-workspace") is None


def test_the_gpu_operator_is_installed_by_its_command(site: InstallationSite) -> None:
    done = site.mooring("install", "gpu-operator", "--gpu-operator-repository", site.url)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "installed: gpu-operator v25.10.1\n"
    found = site.release("gpu-operator")
    assert found is not None
    assert (found["chart"], found["status"]) == ("gpu-operator-v25.10.1", "deployed")
    assert site.mooring("uninstall", "gpu-operator").stdout == "GPU Operator is uninstalled\n"
    assert site.release("gpu-operator") is None
