"""This machine as a Node, and as whom its containers run."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.names import is_dns1123_subdomain
from mooring.nodes.process.command_lookup import start_problem
from mooring.nodes.process.environment import ConfigError
from mooring.nodes.process.machine_info import machine_info, node_name
from mooring.nodes.process.node_object import node_object
from mooring.nodes.process.sandbox import Mount, inner_command, sandbox_arguments
from mooring.nodes.process.users import Users, users_of
from tests.nodes.process.life import bound_pod, container


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("vm", "vm"),
        ("Ada-Laptop.local", "ada-laptop.local"),
        ("my_box", "my-box"),
        ("-odd-.x", "odd.x"),
        ("ümlaut", "mlaut"),
        ("___", "this-machine"),
        ("a" * 80, "a" * 63),
    ],
)
def test_a_host_name_becomes_the_name_of_a_node(host: str, name: str) -> None:
    assert node_name(host) == name
    assert not is_dns1123_subdomain(name)


def test_the_node_carries_its_labels_and_its_taint() -> None:
    machine = machine_info()
    node = node_object(machine)
    assert node["spec"]["taints"] == [{"key": "mooring.dev/process", "value": "true", "effect": "NoSchedule"}]
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == machine.name
    assert machine.cpus >= 1
    assert machine.memory > 1 << 26


def users(own: int, pod: dict[str, Any] | None = None, **context: Any) -> Users:
    spec = container(securityContext=context)
    return users_of(bound_pod(spec, securityContext=pod or {}), spec, own)


def test_root_runs_containers_as_whom_they_ask_for() -> None:
    assert users(0) == Users()
    assert users(0, {"runAsUser": 1, "fsGroup": 3}, runAsUser=2, runAsGroup=4) == Users(2, 4, (3,))
    assert users(0, {"supplementalGroups": [9, 8]}).groups == (8, 9)


def test_who_is_not_root_says_what_it_cannot_do() -> None:
    assert users(1000, runAsUser=1000) == Users()
    note = "the process node runs as user 1000 and not as root, so it cannot keep to runAsUser 2, runAsGroup 4"
    assert users(1000, runAsUser=2, runAsGroup=4).note == note


def test_a_container_that_must_not_be_root_is_not() -> None:
    with pytest.raises(ConfigError, match="container has runAsNonRoot and image will run as root"):
        users(0, runAsNonRoot=True)
    with pytest.raises(ConfigError, match="runAsUser breaks non-root policy"):
        users(0, runAsNonRoot=True, runAsUser=0)
    assert users(0, runAsNonRoot=True, runAsUser=5).user == 5
    assert users(1000, runAsNonRoot=True) == Users()


def test_the_limit_and_the_user_stand_before_the_command() -> None:
    assert inner_command(["run"], user=None, group=None, groups=(), memory=None) == ["run"]
    limited = inner_command(["run"], user=1, group=None, groups=(7, 3), memory=1024)
    assert limited == [
        *("setpriv", "--reuid=1", "--regid=0", "--groups=3,7", "--"),
        *("prlimit", "--data=1024:1024", "--", "run"),
    ]


def arguments(*mounts: Mount, **more: Any) -> list[str]:
    return sandbox_arguments(mounts, {"A": "1"}, hostname="h" * 70, folder="/", status_fd=3, **more)


def in_memory(*mounts: Mount) -> list[str]:
    found = arguments(*mounts)
    return [found[number + 1] for number, word in enumerate(found) if word == "--tmpfs"]


def test_a_mount_path_that_is_missing_is_made_in_memory_only() -> None:
    found = " ".join(arguments(Mount("/src", "/etc/none/deep")))
    assert "--tmpfs /etc " in found
    assert "--bind /etc /.machine/etc" in found
    assert "--symlink /.machine/etc/passwd /etc/passwd" in found
    assert found.index("--tmpfs /etc ") < found.index("--bind /src /etc/none/deep")
    # The root is in memory anyway, and what is there can be mounted over.
    assert in_memory(Mount("/src", "/none"), Mount("/src", "/usr/bin")) == ["/dev"]


def test_outer_mounts_come_before_inner_ones_and_links_are_resolved() -> None:
    found = arguments(Mount("/b", "/none/in", True), Mount("/a", "/none"))
    assert found.index("/a") < found.index("/b")
    assert found[found.index("/b") - 1] == "--ro-bind"
    assert in_memory(Mount("/b", "/none/in"), Mount("/a", "/none")) == ["/dev"]


def test_a_root_that_is_read_only_is_bound_so() -> None:
    assert "--ro-bind-try" in arguments(read_only=True)
    assert "--bind-try" not in arguments(read_only=True)


def test_a_command_is_looked_for_where_the_container_would_find_it(tmp_path: Any) -> None:
    script = tmp_path / "run"
    script.touch(mode=0o755)
    mounts = [Mount(str(tmp_path), "/scripts")]
    assert start_problem("/scripts/run", "", "/", mounts) == ""
    assert start_problem("run", "/bin:/scripts", "/", mounts) == ""
    assert start_problem("./run", "", "/scripts", mounts) == ""
    assert start_problem("run", "/bin", "/", mounts).endswith('exec: "run": executable file not found in $PATH')
    assert "no such file or directory" in start_problem("sh", "/bin", "/no/such/folder", mounts)
    script.chmod(0o644)
    assert start_problem("/scripts/run", "", "/", mounts).endswith('exec: "/scripts/run": permission denied')
