"""Jobs from their start to their end, each rung of the ladder."""

from __future__ import annotations

import logging

import pytest

from mooring.builtin.controllers import CONTENT
from mooring.builtin.metadata_kinds import CUSTOM_KINDS, IN_NAMESPACES
from mooring.builtin.namespaces import namespace_controller
from mooring.features.notebooks.metrics import ACTIVE_PODS, POD_CREATIONS, PROBLEMS, VALIDATIONS
from mooring.kube.errors import invalid
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError, InvalidError
from mooring.registry import AdmissionRequest, ClusterView
from mooring.runtime.drivers.simulation import START
from mooring.testing.builders import node
from mooring.testing.notebooks import notebook_job, run_log, run_result
from tests.features.notebooks.world import NotebookWorld, PodRun, Script

FAILED_CELL = run_log(
    run_result("Failed", "NotebookExecutionFailed", "cell 1 failed: NameError", cells=("Success", "Failure", "Skipped"))
)


def secret(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"token": "t0p"}}


def first_fails(run: PodRun, times: int) -> Script:
    """A script: the pods of the first attempts come to grief, the next one passes."""
    names = ["train-validation", "train-validation-1", "train-validation-2"][:times]
    return lambda pod: run if pod in names else PodRun()


# Ends


def test_a_notebook_that_passes_is_succeeded_with_every_cell() -> None:
    world = NotebookWorld(notebook_job())
    status = world.status()
    assert (status["phase"], status["message"], status["retryCount"]) == ("Succeeded", "3 of 3 cells passed", 0)
    assert [cell["status"] for cell in status["results"]] == ["Success", "Success", "Skipped"]
    assert status["completionTime"] > status["startTime"]
    assert [world.condition(each)[:2] for each in ("Ready", "ValidationComplete", "Progressing", "Placeable")] == [
        ("True", "ValidationComplete"),
        ("True", "ValidationComplete"),
        ("False", "ValidationComplete"),
        ("True", "Fits"),
    ]
    assert world.pods() == ["train-validation"], "it stays, with its log"
    assert world.simulation.metrics.own(VALIDATIONS, "default", "succeeded") == 1
    assert world.simulation.metrics.own(POD_CREATIONS, "default", "success") == 1
    assert 'git_clone_duration_seconds_count{namespace="default",auth_type="none"} 1' in world.simulation.metrics.text()


def test_a_cell_that_fails_is_never_retried_and_every_result_is_kept() -> None:
    world = NotebookWorld(notebook_job(), script=lambda pod: PodRun(2, log=FAILED_CELL))
    status = world.status()
    assert (status["phase"], status["retryCount"], status["message"]) == ("Failed", 0, "cell 1 failed: NameError")
    assert [cell["status"] for cell in status["results"]] == ["Success", "Failure", "Skipped"]
    assert world.condition("ValidationComplete")[:2] == ("False", "NotebookExecutionFailed")
    assert world.pods() == ["train-validation"]


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (PodRun(0, log="cell 0 ...\n"), "ResultMissing"),
        (PodRun(1, log=""), "ResultMissing"),
        (PodRun(0, log=FAILED_CELL), "NotebookExecutionFailed"),
        (PodRun(2), "ResultInconsistent"),
        (PodRun(3, log=""), "RunnerUnavailable"),
        (PodRun(3, log=run_log(run_result("Error", "RunnerUnavailable", "install nbclient"))), "RunnerUnavailable"),
        (PodRun(137, state={"reason": "OOMKilled"}), "OOMKilled"),
        (PodRun(clone_exit_code=3, clone_message="ref v9 not found"), "GitRefNotFound"),
    ],
)
def test_without_a_whole_result_that_agrees_with_its_exit_code_nothing_succeeds(run: PodRun, reason: str) -> None:
    world = NotebookWorld(notebook_job(), script=lambda pod: run)
    assert world.phase() == "Failed"
    assert world.condition("ValidationComplete")[:2] == ("False", reason)
    assert world.status()["retryCount"] == 0
    assert world.status()["completionTime"]


def test_an_end_is_final() -> None:
    world = NotebookWorld(notebook_job())
    before = world.status()
    world.patch("NotebookValidationJob", "train", {"spec": {"notebook": {"path": "other.ipynb"}}})
    world.delete("Pod", "train-validation")
    world.run()
    assert world.status() == before
    assert world.pods() == []


def test_the_end_is_told_once_with_the_label_that_notifiers_select() -> None:
    failing = PodRun(2, log=FAILED_CELL)
    world = NotebookWorld(
        notebook_job("good"), notebook_job("bad"), script=lambda pod: failing if "bad" in pod else PodRun()
    )
    (good,), (bad,) = world.events("ValidationSucceeded"), world.events("ValidationFailed")
    label = "mlops.dev/notification-type"
    assert (good["type"], good["metadata"]["labels"]) == ("Normal", {label: "validation-success"})
    assert (bad["type"], bad["metadata"]["labels"]) == ("Warning", {label: "validation-failure"})
    assert bad["source"]["component"] == "jupyter-notebook-validator-operator"


# Retries


def test_a_remote_that_is_away_is_tried_again_with_other_pods_and_longer_pauses() -> None:
    away = PodRun(clone_exit_code=7, clone_message="https://git.example.com cannot be reached")
    world = NotebookWorld(notebook_job(), script=first_fails(away, 2))
    status = world.status()
    assert (status["phase"], status["retryCount"], status["validationPodName"]) == (
        "Succeeded", 2, "train-validation-2",
    )  # fmt: skip
    assert world.seconds == pytest.approx(60 + 120 + 11, abs=3)
    assert len(world.events("AttemptFailed")) == 2
    assert world.simulation.metrics.own(PROBLEMS, "default", "GitRemoteUnreachable") == 2


@pytest.mark.parametrize(
    "run",
    [
        PodRun(clone_exit_code=6),
        PodRun(waiting="ImagePullBackOff"),
        PodRun(ended_by_node="Evicted"),
        PodRun(137),
    ],
)
def test_attempts_are_bounded(run: PodRun) -> None:
    world = NotebookWorld(notebook_job(), script=lambda pod: run)
    status = world.status()
    assert (status["phase"], status["retryCount"]) == ("Failed", 2)
    assert status["message"].endswith("3 attempts failed")
    assert world.simulation.metrics.own(POD_CREATIONS, "default", "success") == 3
    assert not [pod for pod in world.all("Pod").values() if pod["status"]["phase"] in ("Pending", "Running")]


def test_a_pod_that_somebody_deletes_is_replaced_under_another_name_and_counted() -> None:
    world = NotebookWorld(notebook_job(timeout="2h"), script=lambda pod: PodRun(seconds=1000), run=False)
    world.run(5)
    world.delete("Pod", "train-validation")
    world.run(5)
    assert world.status()["retryCount"] == 1
    assert "deleted before it reported" in world.status()["message"]
    assert world.pods() == []
    world.run(60)
    assert world.pods() == ["train-validation-1"]
    world.run()
    assert world.phase() == "Succeeded"


def test_a_log_that_cannot_be_read_for_a_while_is_read_later() -> None:
    run = PodRun(log_problem="dial tcp: no route to host", unreadable=3)
    world = NotebookWorld(notebook_job(), script=lambda pod: run)
    assert world.phase() == "Succeeded"
    world = NotebookWorld(notebook_job(), script=lambda pod: run._replace(unreadable=99))
    assert (world.phase(), world.condition("Ready")[1]) == ("Failed", "ResultUnreadable")
    assert world.status()["message"].endswith("6 times: dial tcp: no route to host")
    assert world.status()["retryCount"] == 0


# Time


def test_the_timeout_counts_from_the_start_and_the_cells_that_ran_are_told() -> None:
    stopped = run_result("Error", "Terminated", "stopped in cell 1", cells=("Success", "Failure", "Skipped"))
    world = NotebookWorld(notebook_job(timeout="90s"), script=lambda pod: PodRun(seconds=10_000, log=run_log(stopped)))
    assert world.phase() == "Failed"
    assert world.seconds == pytest.approx(91, abs=1)
    assert world.condition("ValidationComplete")[1] == "ValidationTimeout"
    assert world.status()["message"] == (
        "the job took longer than spec.timeout 90s, counted from its start; stopped in cell 1"
    )
    assert [cell["status"] for cell in world.status()["results"]] == ["Success", "Failure", "Skipped"]
    assert world.status()["retryCount"] == 0


def test_even_a_result_that_says_passed_is_too_late_after_the_timeout() -> None:
    world = NotebookWorld(notebook_job(timeout="90s"), script=lambda pod: PodRun(seconds=10_000))
    assert (world.phase(), world.condition("Ready")[1]) == ("Failed", "ValidationTimeout")


def test_a_pod_that_its_node_does_not_stop_is_deleted() -> None:
    world = NotebookWorld(notebook_job(timeout="90s"), script=lambda pod: PodRun(seconds=10_000, stops=False))
    assert (world.phase(), world.seconds) == ("Failed", 90 + 45)
    assert world.condition("ValidationComplete")[1] == "ValidationTimeout"
    assert world.pods() == []


def test_time_without_a_node_counts_too() -> None:
    job = notebook_job(timeout="90s", selector={"disk": "ssd"})
    world = NotebookWorld(job)
    assert (world.seconds, world.condition("Ready")[1]) == (90, "ValidationTimeout")
    assert "no node can take pod train-validation" in world.status()["message"]
    assert world.pods() == []


def test_a_run_that_ended_in_time_is_read_also_after_the_deadline() -> None:
    run = PodRun(seconds=80, log_problem="away", unreadable=4)
    world = NotebookWorld(notebook_job(timeout="90s"), script=lambda pod: run)
    assert world.phase() == "Succeeded"
    assert world.seconds > 90


def test_a_finished_job_goes_when_its_time_is_over() -> None:
    world = NotebookWorld(notebook_job(ttlSecondsAfterFinished=600), run=False)
    world.run(100)
    assert world.phase() == "Succeeded"
    world.run()
    assert world.find("NotebookValidationJob", "train") is None
    assert world.pods() == []
    assert 600 < world.seconds < 620


# What is missing or refused


def test_a_missing_secret_is_named_and_waited_for() -> None:
    pod = {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "cfg", "key": "a"}}}]}
    world = NotebookWorld(notebook_job(secret="git", pod=pod), run=False)
    world.run(60)
    assert world.condition("Progressing") == (
        "False",
        "WaitingForDependency",
        "Secret git and ConfigMap cfg in namespace default not found; create what is missing",
    )
    assert (world.phase(), world.pods()) == ("Initializing", [])
    assert len(world.events("WaitingForDependency")) == 1
    world.create(secret("git"))
    world.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cfg"}, "data": {"a": "1"}})
    world.run()
    assert world.phase() == "Succeeded"


def test_a_job_that_goes_on_waiting_does_not_say_so_again() -> None:
    volumes = [{"name": "extra", "secret": {"secretName": "extra"}}]
    world = NotebookWorld(notebook_job(secret="git", pod={"volumes": volumes}), run=False)
    world.run(60)
    world.create(secret("extra"))
    world.run(60)
    assert world.condition("Progressing")[2] == "Secret git in namespace default not found; create what is missing"
    (event,) = world.events("WaitingForDependency")
    assert event["message"].startswith("Secret extra and Secret git in ")
    assert event.get("count", 1) == 1


def test_what_is_optional_is_not_waited_for() -> None:
    volumes = [{"name": "extra", "secret": {"secretName": "none", "optional": True}}]
    world = NotebookWorld(notebook_job(pod={"volumes": volumes}))
    assert world.phase() == "Succeeded"


def refuse_pods(world: NotebookWorld, error: Exception, times: int) -> None:
    refused: list[str] = []

    def validate(request: AdmissionRequest, view: ClusterView) -> None:
        obj = request.object or {}
        if obj.get("kind") == "Pod" and request.operation == "CREATE" and len(refused) < times:
            refused.append(obj["metadata"]["name"])
            raise error

    world.registry.admission.validating.append(validate)


def test_a_pod_that_a_quota_refuses_is_told_and_made_later() -> None:
    world = NotebookWorld(notebook_job(), run=False)
    refuse_pods(world, ForbiddenError("quota exceeded: pods=4"), 12)
    world.run(2)
    assert world.condition("Progressing")[:2] == ("False", "PodCreationFailed")
    assert "quota exceeded" in world.status()["message"]
    world.simulation.run(until=lambda: world.phase() == "Succeeded")
    assert world.phase() == "Succeeded"


def test_a_pod_that_can_never_be_made_ends_the_job() -> None:
    world = NotebookWorld(notebook_job(), run=False)
    refuse_pods(world, InvalidError("Pod", "", "train-validation", [invalid("spec.x", 1, "is odd")]), 99)
    world.run()
    assert (world.phase(), world.condition("Ready")[1]) == ("Failed", "ConfigurationError")
    assert world.simulation.metrics.own(POD_CREATIONS, "default", "failed") == 1


def test_an_image_build_is_refused_in_words() -> None:
    world = NotebookWorld(notebook_job(pod={"buildConfig": {"enabled": True, "strategy": "tekton"}}))
    assert (world.phase(), world.condition("Ready")[1]) == ("Failed", "StrategyNotFound")
    assert "Mooring builds none" in world.status()["message"]
    assert world.status()["buildStatus"]["phase"] == "Failed"
    assert world.pods() == []


def test_models_are_not_called_healthy_without_a_check() -> None:
    world = NotebookWorld(notebook_job(modelValidation={"platform": "vllm", "targetModels": ["llm"]}))
    assert world.phase() == "Succeeded"
    assert world.condition("ModelsChecked")[:2] == ("False", "ModelsNotChecked")
    assert world.status()["modelValidationResult"]["success"] is False


def test_a_job_without_a_spec_says_so() -> None:
    world = NotebookWorld({**notebook_job(), "spec": None})
    assert (world.phase(), world.condition("Ready")[1]) == ("Failed", "ConfigurationError")


# Beside others


def test_a_job_that_is_deleted_takes_its_pod_along() -> None:
    world = NotebookWorld(notebook_job(), script=lambda pod: PodRun(seconds=600), run=False)
    world.run(5)
    assert world.simulation.metrics.own(ACTIVE_PODS, "default", "Running") == 1
    world.delete("NotebookValidationJob", "train")
    world.run()
    assert world.pods() == []
    assert world.find("ConfigMap", "train-validation") is None


def test_a_namespace_that_is_deleted_takes_jobs_and_pods_along() -> None:
    deletion = namespace_controller((*CONTENT, *IN_NAMESPACES), CUSTOM_KINDS)
    world = NotebookWorld(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}},
        notebook_job(namespace="team"),
        notebook_job("late", namespace="team", secret="missing"),
        script=lambda pod: PodRun(seconds=600),
        more=(deletion,),
        run=False,
    )
    world.run(5)
    assert world.pods() == ["train-validation"]
    world.delete("Namespace", "team")
    world.run()
    assert world.find("Namespace", "team") is None
    assert (world.pods(), world.all("NotebookValidationJob")) == ([], {})


def test_a_container_that_lacks_a_key_of_a_secret_waits_in_words() -> None:
    run = PodRun(waiting="CreateContainerConfigError")
    world = NotebookWorld(notebook_job(timeout="10m"), script=lambda pod: run, run=False)
    world.run(100)
    assert world.condition("Progressing")[:2] == ("False", "CreateContainerConfigError")
    assert (world.phase(), world.status()["retryCount"]) == ("ValidationRunning", 0)
    world.run()
    assert world.condition("Ready")[1] == "ValidationTimeout"
    assert "registry.example.com says no" in world.status()["message"]


def test_a_job_of_another_controller_goes_on_from_its_phase() -> None:
    world = NotebookWorld(run=False)
    world.create(notebook_job())
    started = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "message": "pod is running"}
    world.patch("NotebookValidationJob", "train", {"status": started}, "status")
    world.run()
    assert world.phase() == "Succeeded"


def test_argo_cd_hears_of_the_wave_and_only_where_there_is_one() -> None:
    wave = {"argocd.argoproj.io/sync-wave": "3"}
    jobs = notebook_job("good", annotations=wave), notebook_job("bad", annotations=wave), notebook_job("plain")
    world = NotebookWorld(*jobs, script=lambda pod: PodRun(clone_exit_code=3 if "bad" in pod else 0))
    good, bad, plain = (world.job(name)["metadata"].get("annotations", {}) for name in ("good", "bad", "plain"))
    ended = world.status("good")["completionTime"]
    assert good == {**wave, "mlops.dev/wave-complete": "3", "mlops.dev/completion-time": ended}
    assert bad["mlops.dev/wave-failed"] == "3"
    assert "mlops.dev/wave-complete" not in bad
    assert plain == {}


def test_the_log_says_what_scheduling_was_applied(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mooring.runtime")
    gpu = node("gpu", gpu=1, labels={"gpu": "true"}, taints=["nvidia.com/gpu=True:NoSchedule"])
    exists = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    job = notebook_job(tolerations=[exists], selector={"gpu": "true"}, affinity={"podAntiAffinity": {}})
    world = NotebookWorld(job, nodes=[gpu])
    assert world.phase() == "Succeeded"
    lines = [record.getMessage() for record in caplog.records]
    assert lines[:3] == [
        "Adding tolerations (count 1) to pod train-validation",
        "Adding nodeSelector gpu=true to pod train-validation",
        "Adding affinity (podAntiAffinity) to pod train-validation",
    ]
    (event,) = world.events("PodCreated")
    assert "tolerations (count 1), nodeSelector gpu=true" in event["message"]


def test_status_times_are_those_of_the_clock() -> None:
    world = NotebookWorld(notebook_job())
    assert world.status()["startTime"] == f"{START:%Y-%m-%dT%H:%M:%SZ}"
