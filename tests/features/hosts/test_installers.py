"""Scripts for known systems, a sentence for others, and no retries that change nothing."""

from __future__ import annotations

import base64
import subprocess

import pytest

from mooring.features.hosts.installer.platforms import PLATFORMS, UnsupportedPlatform, platform_of
from mooring.features.hosts.installer.scripts import scripts_for
from mooring.testing.hosts import byo_host, installer_template, put_machine
from tests.features.hosts.world import HostWorld

REF = {"apiGroup": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "K8sInstallerConfigTemplate", "name": "installer"}


@pytest.mark.parametrize(
    ("image", "architecture", "version", "slug"),
    [
        ("Ubuntu 20.04.6", "amd64", "v1.26.0", "ubuntu-20.04"),
        ("Ubuntu 22.04.3", "arm64", "v1.34.1", "ubuntu-22.04"),
        ("Ubuntu 24.04", "amd64", "v1.35.8", "ubuntu-24.04"),
        ("Debian GNU/Linux 12 (bookworm)", "amd64", "v1.35.8", "debian-12"),
    ],
)
def test_known_systems_have_an_installer(image: str, architecture: str, version: str, slug: str) -> None:
    assert platform_of(image, architecture, version).slug == slug


@pytest.mark.parametrize(
    ("image", "architecture", "version", "part"),
    [
        ("Fedora 40", "amd64", "v1.34.1", "there is no installer for Fedora 40; there is one for Ubuntu 20.04"),
        ("", "amd64", "v1.34.1", "an unknown system"),
        ("Ubuntu 22.04", "riscv64", "v1.34.1", "on riscv64; there is one for amd64 and arm64"),
        ("Ubuntu 20.04", "amd64", "v1.34.1", "Kubernetes v1.34.1 on Ubuntu 20.04; there is one for v1.24 to v1.26"),
        ("Ubuntu 22.04", "amd64", "latest", "Kubernetes latest on Ubuntu 22.04"),
    ],
)
def test_an_unknown_combination_says_what_there_is(image: str, architecture: str, version: str, part: str) -> None:
    with pytest.raises(UnsupportedPlatform) as error:
        platform_of(image, architecture, version)
    assert part in str(error.value)


@pytest.mark.parametrize(
    "repository", ["online", "https://bundles.example.com/k8s", "registry.example.com/byoh", "/srv"]
)
def test_scripts_are_valid_shell(repository: str) -> None:
    for script in scripts_for(PLATFORMS[1], "amd64", "v1.34.1", repository):
        checked = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
        assert checked.returncode == 0, checked.stderr
        assert "{{.BundleDownloadPath}}" in script


def test_a_value_with_quotes_stays_one_word() -> None:
    script = scripts_for(PLATFORMS[1], "amd64", "v1.34.1", "https://x/$(touch /tmp/owned)'").install
    assert """source='https://x/$(touch /tmp/owned)'"'"''""" in script


def test_the_scripts_reach_the_host_in_a_secret_of_their_own() -> None:
    world = HostWorld(byo_host("a"), installer_template())
    put_machine(world.simulation, "m", installerRef=REF)
    world.run()
    host, config = world.get("ByoHost", "a"), world.get("K8sInstallerConfig", "m")
    name = config["status"]["installationSecret"]["name"]
    assert host["spec"]["installationSecret"]["name"] == name != "m"
    secret = world.get("Secret", name)
    assert secret["type"] == "cluster.x-k8s.io/secret"
    assert set(secret["data"]) == {"install", "uninstall"}
    assert b"v1.34.1" in base64.b64decode(secret["data"]["install"])
    assert world.ready("m")


def test_a_config_that_no_machine_has_asked_for_waits_and_that_is_no_failure() -> None:
    template = installer_template("mine")
    world = HostWorld(
        byo_host("a"), {**template, "kind": "K8sInstallerConfig", "spec": template["spec"]["template"]["spec"]}
    )
    world.run()
    told = world.condition("K8sInstallerConfig", "mine", "Ready")
    assert (told["status"], told["severity"]) == ("False", "Info")
    assert told["message"] == "no ByoMachine owns K8sInstallerConfig mine"
    assert world.find("Secret", "mine-installation") is None


def test_a_system_without_an_installer_is_told_once_and_not_tried_again() -> None:
    world = HostWorld(byo_host("a"), installer_template())
    world.run()
    info = {"osname": "linux", "osimage": "Fedora 40", "architecture": "amd64"}
    world.patch("ByoHost", "a", {"status": {"hostinfo": info}}, "status")
    put_machine(world.simulation, "m", installerRef=REF)
    world.run()
    told = world.condition("K8sInstallerConfig", "m", "Ready")
    assert (told["reason"], told["severity"]) == ("UnsupportedPlatform", "Error")
    assert "ByoHost a: there is no installer for Fedora 40" in told["message"]
    passed_on = world.condition("ByoMachine", "m")
    assert passed_on["reason"] == "InstallationSecretNotAvailable"
    assert "there is no installer for Fedora 40" in passed_on["message"]
    steps = world.simulation.steps
    assert world.run().simulation.steps == steps
    world.patch("ByoHost", "a", {"status": {"hostinfo": {**info, "osimage": "Ubuntu 24.04"}}}, "status")
    world.run()
    assert world.ready("m")
    assert "bootstrapSecret" in world.get("ByoHost", "a")["spec"]
