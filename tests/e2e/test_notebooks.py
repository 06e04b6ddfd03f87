"""Notebook jobs from git to their verdict, on the node that this machine is: every way in which one can end.

All jobs are applied at once and run side by side; each test waits for its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from mooring.kube.objects import Object
from mooring.nodes.process.machine_info import machine_info
from mooring.testing.processes import free_port
from tests.e2e.notebooks import JOBS, NotebookSite, job, notebook, notebook_site, source
from tests.features.notebooks.clones import shows
from tests.nodes.process.home import needs_sandbox
from tests.support.git_servers import (
    GitRepository,
    HttpGitServer,
    git_daemon,
    http_git_server,
    needs_sshd,
    ssh_git_server,
)

pytestmark = [pytest.mark.slow, needs_sandbox, needs_sshd]

USER, PASSWORD = "alice", "Tr0ub4dor&3-correct-horse"
NOTEBOOKS = {
    "good.ipynb": notebook("x = 20 + 22", "print(x)"),
    "golden.ipynb": notebook("x = 20 + 22", "print(x)", outputs=[None, "42\n"]),
    "other.ipynb": notebook("x = 20 + 22", "print(x)", outputs=[None, "43\n"]),
    "failing.ipynb": notebook("x = 1", "x / 0", "print(x)"),
    "endless.ipynb": notebook("while True: pass"),
    "suicidal.ipynb": notebook("import os; os.kill(os.getppid(), 9)"),
    "foreign.ipynb": notebook("1", kernel="julia-1.11"),
    "broken.ipynb": "this is no notebook",
}


class Field(NamedTuple):
    """A site with all jobs under way, and what they are made of."""

    site: NotebookSite
    commit: str
    url: str
    private_key: str


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    folder = tmp_path_factory.mktemp("notebooks")
    root = folder / "repositories"
    repository = GitRepository(root, "models.git")
    commit = repository.commit(NOTEBOOKS)
    repository.commit({"good.ipynb": "not a notebook any more"})
    repository.git("branch", "release", commit)
    with (
        git_daemon(root, folder / "daemon.log") as git,
        http_git_server(HttpGitServer(root, USER, PASSWORD)) as http,
        ssh_git_server(folder / "ssh") as ssh,
        notebook_site(folder, "--ephemeral") as site,
    ):
        url = f"{git}/models.git"
        site.secret("password", username=USER, password=PASSWORD)
        site.secret("wrong", username=USER, password="wrong-horse")
        site.secret("key", ssh_privatekey=ssh.private_key, known_hosts=ssh.known_hosts)

        def at(path: str, ref: str = "release") -> Object:
            return source(url, path, ref=ref)

        fits_later = {"nodeSelector": {"mooring.dev/process": "true", "pool": "late"}}
        site.apply(
            job("by-commit", at("good.ipynb", commit), goldenNotebook=at("golden.ipynb")),
            job("failing", at("failing.ipynb")),
            job("mismatch", at("good.ipynb"), goldenNotebook=at("other.ipynb")),
            job("endless", at("endless.ipynb"), timeout="6s"),
            job("killed", at("suicidal.ipynb")),
            job("by-password", source(f"{http.url}/models.git", "good.ipynb", ref="release", secret="password")),
            job("by-key", source(f"{ssh.url}{root}/models.git", "good.ipynb", ref="release", secret="key")),
            job("refused", source(f"{http.url}/models.git", "good.ipynb", secret="wrong")),
            job("wrong-ref", at("good.ipynb", "nowhere")),
            job("no-path", at("missing.ipynb")),
            job("no-remote", source(f"git://127.0.0.1:{free_port()}/x.git", "good.ipynb")),
            job("no-kernel", at("foreign.ipynb")),
            job("no-notebook", at("broken.ipynb")),
            job("later", at("good.ipynb"), pod=fits_later),
        )
        yield Field(site, commit, url, ssh.private_key)


def failed(field: Field, name: str, reason: str) -> Object:
    """The status of a job that failed for this reason."""
    status = field.site.finished(name)
    told = field.site.condition(name, "ValidationComplete")
    assert (status["phase"], told["status"], told["reason"]) == ("Failed", "False", reason), status
    assert status["completionTime"]
    assert status["message"] == told["message"]
    return status


def test_a_notebook_at_a_commit_matches_its_golden_one(field: Field) -> None:
    status = field.site.finished("by-commit")
    assert status["phase"] == "Succeeded", status
    assert [each["status"] for each in status["results"]] == ["Success", "Success"]
    assert "42" in status["results"][1]["output"]
    assert status["comparisonResult"]["result"] == "matched"
    (pod,) = field.site.pods("by-commit")
    assert pod["spec"]["nodeName"] == machine_info().name


def test_a_failing_cell_is_named_and_the_rest_is_skipped(field: Field) -> None:
    status = failed(field, "failing", "NotebookExecutionFailed")
    assert [each["status"] for each in status["results"]] == ["Success", "Failure", "Skipped"]
    assert "ZeroDivisionError" in status["results"][1]["errorMessage"]
    assert status.get("retryCount", 0) == 0


def test_a_difference_from_the_golden_notebook_is_shown(field: Field) -> None:
    status = failed(field, "mismatch", "ComparisonFailed")
    (diff,) = status["comparisonResult"]["diffs"]
    assert (diff["cellIndex"], diff["diffType"]) == (1, "output_mismatch")
    assert ("43" in diff["expected"], "42" in diff["actual"]) == (True, True)


def test_a_notebook_without_end_is_stopped_at_its_timeout(field: Field) -> None:
    failed(field, "endless", "ValidationTimeout")


def test_a_runner_that_is_killed_before_it_reports_never_passes(field: Field) -> None:
    field.site.until(lambda: field.site.status("killed").get("retryCount"), "it is to be tried again")
    status = field.site.status("killed")
    assert status["phase"] not in ("Succeeded", "Failed")
    assert "killed before it reported" in status["message"]


@pytest.mark.parametrize("name", ["by-password", "by-key"])
def test_credentials_of_a_secret_are_used(field: Field, name: str) -> None:
    status = field.site.finished(name)
    assert status["phase"] == "Succeeded", status


@pytest.mark.parametrize(
    ("name", "reason", "text"),
    [
        ("refused", "GitAuthenticationFailed", "refuses the credentials of the Secret that credentialsSecret names"),
        ("wrong-ref", "GitRefNotFound", "has no branch, tag or commit nowhere."),
        ("no-path", "NotebookNotFound", "There is no file missing.ipynb in"),
        ("no-kernel", "KernelNotInstalled", "julia-1.11"),
        ("no-notebook", "NotANotebook", "broken.ipynb"),
    ],
)
def test_what_cannot_be_mended_by_trying_again_fails_with_its_reason(
    field: Field, name: str, reason: str, text: str
) -> None:
    status = failed(field, name, reason)
    assert text in status["message"]
    assert status.get("retryCount", 0) == 0


def test_a_remote_that_is_not_there_is_tried_again(field: Field) -> None:
    field.site.until(lambda: field.site.status("no-remote").get("retryCount"), "it is to be tried again")
    assert "cannot be reached" in field.site.status("no-remote")["message"]


def test_a_job_that_no_node_can_take_says_so_and_runs_when_one_gets_the_label(field: Field) -> None:
    site = field.site
    site.until(lambda: site.condition("later", "Placeable").get("status") == "False", "it says that no node fits")
    told = site.condition("later", "Placeable")
    assert told["reason"] == "Unschedulable"
    assert machine_info().name in told["message"]
    assert site.status("later")["phase"] == "Initializing"
    site.label_node(pool="late")
    assert site.finished("later")["phase"] == "Succeeded"


def test_no_byte_of_a_credential_is_shown_anywhere(field: Field) -> None:
    for name in ("by-password", "by-key", "refused"):
        field.site.finished(name)
    shown = field.site.everything()
    assert len(shown) > 10_000
    assert not shows(shown, PASSWORD, "wrong-horse", *field.private_key.split("\n")[1:-2])


def test_a_file_of_the_machine_is_no_repository(field: Field) -> None:
    answer = field.site.api.post(JOBS, job("file", source("file:///etc", "x.ipynb")))
    assert answer.code == 422
    assert "spec.notebook.git.url" in answer.body["message"]
