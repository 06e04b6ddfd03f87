"""`mooring install` and its like before a cluster has done anything: what would be done, and what cannot be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from mooring.api.crds.resource import definition
from mooring.cli.installation.progress import ProgressLines
from mooring.cli.main import cli
from mooring.features.installation.api.definition import INSTALLATIONS
from mooring.testing.homes import EMBEDDED, Home, api_only

SEED = (
    "helm upgrade --install kaito-workspace kaito/workspace --version 0.8.0 -n kaito-workspace --create-namespace "
    "--set featureGates.disableNodeAutoProvisioning=true --wait"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """An API server without any controllers."""
    with api_only(EMBEDDED, tmp_path_factory.mktemp("bare")) as home:
        yield home


def mooring(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(each) for each in arguments])


def test_a_dry_run_shows_the_commands_and_asks_nobody() -> None:
    told = mooring("install", "kaito", "--dry-run", "--kubeconfig", "/nowhere")
    assert told.exit_code == 0
    assert SEED in told.stdout.splitlines()[-1]


def test_an_older_version_is_without_the_gate() -> None:
    told = mooring("install", "kaito", "--dry-run", "--version", "0.6.0", "-o", "yaml")
    (chart,) = yaml.safe_load(told.stdout)["spec"]["charts"]
    assert (chart["version"], chart.get("values")) == ("0.6.0", None)


def test_the_gpu_operator_has_a_version_and_a_repository_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOORING_KAITO_VERSION", "0.6.0")
    monkeypatch.setenv("MOORING_GPU_OPERATOR_REPOSITORY", "https://charts.example/nvidia/")
    told = mooring("install", "gpu-operator", "--dry-run", "-o", "yaml")
    spec = yaml.safe_load(told.stdout)["spec"]
    assert spec["repository"] == {"name": "nvidia", "url": "https://charts.example/nvidia"}
    assert [(each["name"], each["version"], each["namespace"]) for each in spec["charts"]] == [
        ("gpu-operator", "v25.10.1", "gpu-operator")
    ]
    told = mooring("install", "gpu-operator", "--dry-run", "--version", "v25.3.0", "-o", "yaml")
    assert yaml.safe_load(told.stdout)["spec"]["charts"][0]["version"] == "v25.3.0"


def test_what_needs_nothing_is_told_so() -> None:
    told = mooring("install", "mooring")
    assert (told.exit_code, told.stdout) == (0, "Mooring needs nothing installed.\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("install", "kaitoo"),
            'nothing called "kaitoo" can be installed; choose mooring, kaito or gpu-operator; did you mean kaito?',
        ),
        (("install", "kaito", "--version", "new"), '--kaito-version: "new" is no version of a chart'),
        (("install", "kaito", "--kaito-repository", "x"), '--kaito-repository: "x" is no URL of a Helm repository'),
        (("install", "kaito", "--rollback", "1", "--cancel"), "--rollback and --cancel exclude each other"),
        (("install", "kaito", "--rollback", "0"), "--rollback"),
        (("install", "gpu-operator", "--version", "new"), '--gpu-operator-version: "new" is no version of a chart'),
        (("uninstall", "nobody"), 'nothing called "nobody" can be installed'),
        (("uninstall", "kaito", "--crds", "--no-wait"), "--crds and --no-wait exclude each other"),
        (("uninstall", "gpu-operator", "--crds"), 'there is no provider "gpu-operator"'),
    ],
)
def test_wrong_words_are_named(arguments: tuple[str, ...], words: str) -> None:
    told = mooring(*arguments)
    assert told.exit_code == 1
    assert words in told.stderr


def test_where_no_mooring_is_the_commands_are_told(server: Home) -> None:
    told = mooring("install", "kaito", "--kubeconfig", server.kubeconfig)
    assert told.exit_code == 1
    assert "no Mooring runs in this cluster that could install kaito; type: helm repo add kaito" in told.stderr
    assert SEED in told.stderr
    assert "Nothing is installed with Helm" in mooring("installations", "--kubeconfig", server.kubeconfig).stdout
    assert "there is no Installation kaito" in mooring("uninstall", "kaito", "--kubeconfig", server.kubeconfig).stderr


def test_an_installation_that_nobody_takes_up_is_found_out(server: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooring.cli.installation.progress._TAKEN_UP_SECONDS", 0.1)
    with server.api() as api:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        assert api.post(path, definition(INSTALLATIONS)).code == 201
    asked = ("--kubeconfig", server.kubeconfig)
    told = mooring("install", "kaito", *asked)
    assert told.exit_code == 1
    assert "nobody has taken up Installation kaito; start mooring run --controllers installation," in told.stderr
    told = mooring("install", "kaito", "--version", "0.6.0", "--no-wait", *asked)
    assert (told.exit_code, "is asked for" in told.stdout) == (0, True)
    (found,) = json.loads(mooring("installations", "-o", "json", *asked).stdout)["installations"]
    assert found["spec"]["charts"][0]["version"] == "0.6.0"
    assert mooring("install", "kaito", "--cancel", "--no-wait", *asked).exit_code == 0
    (found,) = json.loads(mooring("installations", "-o", "json", *asked).stdout)["installations"]
    assert found["spec"]["suspend"] is True
    assert "kaito   Pending" in mooring("installations", *asked).stdout
    assert mooring("uninstall", "kaito", *asked).stdout == "KAITO is uninstalled\n"
    told = mooring("uninstall", "kaito", "--crds", *asked)
    assert told.stdout == "KAITO is uninstalled; there are no definitions to delete\n"


def test_at_a_terminal_the_step_that_runs_has_a_line_that_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    times = iter((0.0, 7.0))
    lines = ProgressLines(lambda: next(times))
    step = {"name": "install-x", "title": "Install x", "state": "Running", "output": "a\nDeployment is not ready\n"}
    lines.show({"steps": [step]})
    done = {"steps": [{**step, "state": "Done"}]}
    lines.show(done)
    lines.show(done)
    assert capsys.readouterr().err == "\r\033[KInstall x (7 s): Deployment is not ready\r\033[KInstall x: done\n"
