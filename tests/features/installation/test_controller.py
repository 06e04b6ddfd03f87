"""The ladder of an installation: what is done in which order, what stops it, and what it says at any moment."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.features.installation.effects import (
    CHECK,
    EFFECTS,
    INSTALL,
    NAMESPACE_REMOVAL,
    OBSERVE,
    ROLLBACK,
    UNINSTALL,
)
from mooring.features.installation.effects import HELM_MISSING_EXIT_CODE as MISSING
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.drivers.simulation import START
from mooring.runtime.effects import Report
from mooring.testing.installations import helm_chart, installation
from tests.features.installation.world import InstallationWorld, ends, modelled

TWO = (helm_chart("first", namespace="a"), helm_chart("second", namespace="b", skipCRDs=True))


def release(status: str, revision: int = 1, **more: Any) -> Object:
    return {"name": "kaito-workspace", "namespace": "kaito-workspace", "revision": revision, "status": status, **more}


def seen(*releases: Object, phase: str = "Succeeded", output: str = "", seconds: float = 1) -> Any:
    """A model after which these releases are there."""
    report = Report(phase, int(phase != "Succeeded"), output, status={"releases": list(releases)})  # type: ignore[arg-type]
    return lambda task: (timedelta(seconds=seconds), report)


def test_charts_are_checked_before_anything_is_changed_and_installed_in_their_order() -> None:
    world = InstallationWorld()
    world.put(installation("kaito", *TWO))
    world.run()
    assert world.runs == ["check-first", "check-second", "observe", "crds-first", "install-first", "install-second"]
    assert world.states() == {
        **dict.fromkeys(("check-first", "check-second", "observe"), "Done"),
        "recover": "Skipped",
        **dict.fromkeys(("crds-first", "install-first", "install-second"), "Done"),
    }
    status = world.status()
    assert (status["phase"], status["message"]) == ("Installed", "installed: first 0.8.0, second 0.8.0")
    assert status["createdNamespaces"] == ["a", "b"]
    assert [(each["name"], each["status"]) for each in status["releases"]] == [
        ("first", "deployed"),
        ("second", "deployed"),
    ]
    assert (world.ready()["status"], world.ready()["reason"]) == ("True", "Installed")


def test_the_steps_show_what_a_person_would_type() -> None:
    world = InstallationWorld()
    world.put(installation("kaito", helm_chart(values={"gpus": 2, "labels": ["a,b"]}), timeoutSeconds=90))
    world.run()
    commands = {step["name"]: step.get("command", "") for step in world.status()["steps"]}
    url = "--repo https://charts.example.com --version 0.8.0"
    assert commands == {
        "check-kaito-workspace": f"helm show chart workspace {url}",
        "observe": "helm history kaito-workspace -n kaito-workspace --max 20 -o json",
        "recover": "",
        "crds-kaito-workspace": f"helm show crds workspace {url} | kubectl create -f -",
        "install-kaito-workspace": (
            f"helm upgrade --install kaito-workspace workspace {url} -n kaito-workspace --create-namespace "
            "--set gpus=2 --set-json 'labels=[\"a,b\"]' --skip-crds --wait --timeout 90s"
        ),
    }


def test_helm_gets_the_rights_of_who_changed_the_spec_last() -> None:
    world = InstallationWorld()
    world.put(installation(), user="ada")
    world.run()
    world.change(user="grace", timeoutSeconds=60)
    world.run()
    users = [run.arguments.requester.username for run in world.simulation.executor.started]
    assert set(users[:4]) == {"ada"}
    assert set(users[4:]) == {"grace"}


def test_a_second_version_is_an_upgrade_and_a_revision_of_its_own() -> None:
    world = InstallationWorld()
    world.put(installation("kaito", helm_chart(version="0.6.0")))
    world.run()
    world.change(charts=[helm_chart()])
    world.run(10)
    assert world.status()["phase"] == "Upgrading"
    world.run()
    (found,) = world.status()["releases"]
    assert (found["version"], found["revision"]) == ("0.8.0", 2)


def test_a_rollback_runs_nothing_of_the_charts() -> None:
    world = InstallationWorld()
    world.put(installation())
    world.run()
    world.change(rollbackTo=1)
    world.run(20)
    assert world.status()["phase"] == "RollingBack"
    world.run()
    assert world.runs[-2:] == ["observe", "rollback-kaito-workspace"]
    assert world.ready()["reason"] == "RolledBack"


def test_without_who_asked_nothing_is_done() -> None:
    world = InstallationWorld(running=("installation",))
    world.put(installation())
    world.run()
    assert (world.status()["phase"], world.ready()["reason"]) == ("Failed", "RequesterUnknown")
    assert "run installation-webhook" in world.ready()["message"]
    assert world.runs == []


def test_what_our_own_controllers_do_is_not_installed_and_the_flag_is_named() -> None:
    world = InstallationWorld(running=("installation", "installation-webhook", "workspaces"))
    world.put(installation(conflictsWith=["workspaces"]))
    world.run()
    assert world.ready()["reason"] == "ConflictsWithController"
    assert "--controllers -workspaces, which switches it off" in world.ready()["message"]
    assert world.runs == []


ABSENT = 'Error: chart "workspace" version "0.8.0" not found in https://x repository'
NO_REPOSITORY = "Error: looks like https://x is not a valid chart repository"
NO_TAG = 'Error: failed to perform "FetchReference" on source: registry.example/charts/workspace:0.8.0: not found'
NO_REGISTRY = 'Error: failed to perform "FetchReference" on source: Get "https://x/v2/": connection refused'
FORBIDDEN = 'Error: secrets is forbidden: User "ada" cannot list resource'
LATE = "Job is not ready: a/b\nError: UPGRADE FAILED: context deadline exceeded"
NOBODY = 'Error: users "ada" is forbidden: User "mooring" cannot impersonate resource "users"'
LATE_4 = (
    "Deployment is not ready: a/b. InProgress\n"
    "Error: resource Deployment/a/b not ready. status: InProgress, message: Available: 0/1\ncontext deadline exceeded"
)
BROKEN = "Error: execution error at (a.yaml)"


@pytest.mark.parametrize(
    ("effect", "model", "reason", "words"),
    [
        (CHECK, ends(output=ABSENT), "ChartNotFound", "has no chart workspace of version 0.8.0; nothing was changed"),
        (CHECK, ends(output=NO_REPOSITORY), "RepositoryUnavailable", "correct spec.repository.url"),
        (CHECK, ends(output=NO_TAG), "ChartNotFound", "has no chart workspace of version 0.8.0; nothing was changed"),
        (CHECK, ends(output=NO_REGISTRY), "RepositoryUnavailable", "correct spec.repository.url"),
        (
            INSTALL,
            ends(output=LATE_4),
            "TimedOut",
            "within 600 s: resource Deployment/a/b not ready. status: InProgress, message: Available: 0/1; mend that",
        ),
        (OBSERVE, ends(output=FORBIDDEN), "Forbidden", "ada may not do what step observe does"),
        (
            INSTALL,
            ends(output=LATE),
            "TimedOut",
            "was not done within 600 s: Job is not ready: a/b; mend that or raise",
        ),
        (
            INSTALL,
            ends(output=NOBODY),
            "ImpersonationForbidden",
            "bind ClusterRole mooring:installation to its account",
        ),
        (INSTALL, ends("TimedOut", "half"), "TimedOut", "raise spec.timeoutSeconds"),
        (INSTALL, ends(output=BROKEN), "HelmFailed", "failed: execution error at (a.yaml); mend it, then raise"),
    ],
)
def test_a_failure_says_why_and_what_to_do(effect: Any, model: Any, reason: str, words: str) -> None:
    world = InstallationWorld()
    with modelled(effect, model):
        world.put(installation())
        world.run()
    assert (world.status()["phase"], world.ready()["reason"]) == ("Failed", reason)
    assert words in world.ready()["message"]
    assert "Failed" in world.states().values()
    if effect is CHECK:
        assert world.runs == ["check-kaito-workspace"]


def test_a_failure_stays_until_it_is_asked_for_again() -> None:
    world = InstallationWorld()
    with modelled(INSTALL, ends(output="Error: no")):
        world.put(installation())
        world.run(3600)
    assert world.runs.count("install-kaito-workspace") == 1
    world.change(attempt=2)
    world.run()
    assert world.status()["phase"] == "Installed"


def test_without_helm_the_commands_are_told_and_helm_is_looked_for_again() -> None:
    world = InstallationWorld()
    missing = Report("Failed", MISSING, message="there is no program helm on the machine")
    with modelled(CHECK, lambda task: (timedelta(0), missing)):
        world.put(installation())
        world.run(100)
        assert world.ready()["reason"] == "HelmMissing"
        assert (
            "helm repo add kaito https://charts.example.com; helm repo update; helm upgrade" in world.ready()["message"]
        )
        assert 3 <= len(world.runs) <= 5
    world.run()
    assert world.status()["phase"] == "Installed"


def test_suspending_cancels_what_runs_and_going_on_begins_again() -> None:
    world = InstallationWorld()
    world.put(installation())
    world.run(10)
    world.change(suspend=True)
    world.run()
    assert (world.status()["phase"], world.states()["install-kaito-workspace"]) == ("Cancelled", "Cancelled")
    assert world.status()["effects"]["helm-install"]["phase"] == "Cancelled"
    world.change(suspend=False)
    world.run()
    assert world.status()["phase"] == "Installed"


def test_suspending_what_is_installed_leaves_it_installed() -> None:
    world = InstallationWorld()
    world.put(installation())
    world.run()
    before = world.runs
    world.change(suspend=True)
    world.run()
    assert (world.status()["phase"], world.runs) == ("Installed", before)
    assert world.ready()["observedGeneration"] == 2


def test_what_a_killed_run_left_pending_is_brought_in_order_and_done_again() -> None:
    """Helm was killed in the middle: the next try is refused, and the release is pending since our own run."""
    world = InstallationWorld()
    left = release("pending-upgrade", 2, goodRevision=1, updated=timestamp(START + timedelta(days=1)))
    tries = iter([seen(left, phase="Failed", output="Error: another operation is in progress"), INSTALL.model])
    with modelled(INSTALL, lambda task: next(tries)(task)):
        world.put(installation())
        world.run()
    assert world.runs[-3:] == ["install-kaito-workspace", "recover", "install-kaito-workspace"]
    (recovery,) = [run for run in world.simulation.executor.started if run.effect.name == "helm-recover"]
    assert recovery.arguments.commands[0].arguments == ("rollback", "kaito-workspace", "1", "-n", "kaito-workspace")
    assert world.status()["phase"] == "Installed"


def test_a_first_installation_that_was_killed_is_taken_away_and_done_again() -> None:
    world = InstallationWorld()
    left = release("pending-install", updated=timestamp(START + timedelta(days=1)))
    tries = iter([seen(left, phase="Failed", output="Error: in progress"), INSTALL.model])
    with modelled(INSTALL, lambda task: next(tries)(task)):
        world.put(installation())
        world.run()
    (recovery,) = [run for run in world.simulation.executor.started if run.effect.name == "helm-recover"]
    assert recovery.arguments.commands[0].arguments[:2] == ("uninstall", "kaito-workspace")
    assert world.status()["phase"] == "Installed"


def test_a_release_that_stays_pending_is_not_recovered_for_ever() -> None:
    world = InstallationWorld()
    left = release("pending-install", updated=timestamp(START + timedelta(days=1)))
    with modelled(INSTALL, seen(left, phase="Failed", output="Error: in progress")):
        world.put(installation())
        world.run()
    assert world.runs.count("install-kaito-workspace") == 5
    assert world.ready()["reason"] == "HelmFailed"


def test_somebody_elses_operation_is_waited_for_and_then_ended() -> None:
    world = InstallationWorld()
    began = timestamp(START)
    with modelled(OBSERVE, seen(release("pending-upgrade", 2, goodRevision=1, updated=began))):
        world.put(installation(timeoutSeconds=300))
        world.run(200)
        assert world.ready()["reason"] == "ReleasePending"
        assert "kaito-workspace is pending-upgrade by somebody else's Helm" in world.ready()["message"]
        assert set(world.runs) == {"check-kaito-workspace", "observe"}
        assert world.runs.count("observe") > 3
        world.run()
    assert world.runs[-3:] == ["recover", "crds-kaito-workspace", "install-kaito-workspace"]
    assert world.status()["phase"] == "Installed"


def test_deleting_uninstalls_in_reverse_and_then_looks_at_the_namespaces() -> None:
    world = InstallationWorld()
    world.put(installation("kaito", *TWO))
    world.run()
    world.delete()
    world.run()
    assert world.get() is None
    assert world.runs[-4:] == ["uninstall-second", "uninstall-first", "namespace-b", "namespace-a"]


def test_an_installation_that_never_began_goes_at_once() -> None:
    world = InstallationWorld(running=("installation",))
    world.put(installation())
    world.run()
    world.delete()
    world.run()
    assert (world.get(), world.runs) == (None, [])


def test_an_uninstallation_that_fails_is_tried_again() -> None:
    world = InstallationWorld()
    world.put(installation())
    world.run()
    world.delete()
    with modelled(UNINSTALL, ends(output="Error: no")):
        world.run(100)
        assert (world.status()["phase"], world.ready()["reason"]) == ("Failed", "HelmFailed")
        assert world.ready()["message"].endswith("it is tried again by itself")
        assert world.runs.count("uninstall-kaito-workspace") > 2
    world.run()
    assert world.get() is None


def test_a_namespace_that_stays_is_told_in_an_event() -> None:
    world = InstallationWorld()
    world.put(installation())
    world.run()
    world.delete()
    stays = Report("Succeeded", 0, message="namespace kaito-workspace stays, because it holds Pod mine")
    with modelled(NAMESPACE_REMOVAL, lambda task: (timedelta(0), stays)):
        world.run()
    events = world.registry.list(world.registry.resource("v1", "Event")).items
    (kept,) = [each for each in events if each["reason"] == "NamespaceKept"]
    assert kept["message"] == stays.message


def test_namespaces_that_were_there_are_not_ours_to_delete() -> None:
    world = InstallationWorld()
    there = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kaito-workspace"}}
    world.registry.create(world.registry.resource("v1", "Namespace"), there, now=START)
    world.put(installation())
    world.run()
    assert "createdNamespaces" not in world.status()


def test_a_namespace_that_somebody_makes_before_helm_does_is_not_ours_to_delete() -> None:
    world = InstallationWorld()
    with modelled(OBSERVE, seen(seconds=60)):
        world.put(installation())
        world.run(30)
        assert world.states()["observe"] == "Running"
        theirs = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kaito-workspace"}}
        world.registry.create(world.registry.resource("v1", "Namespace"), theirs, now=world.simulation.now)
        world.run()
    assert world.status()["phase"] == "Installed"
    world.delete()
    world.run()
    assert (world.get(), world.runs[-2:]) == (None, ["install-kaito-workspace", "uninstall-kaito-workspace"])


def test_every_effect_has_a_name_of_its_own_and_a_model() -> None:
    assert len({each.name for each in EFFECTS}) == len(EFFECTS)
    assert {ROLLBACK, INSTALL, UNINSTALL} <= set(EFFECTS)
