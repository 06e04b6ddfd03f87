"""What of the machine containers see."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mooring.nodes.process.containers.environment.variables import ConfigError
from mooring.nodes.process.containers.sandbox.capabilities import ALL, DEFAULTS, capabilities_of
from mooring.nodes.process.containers.sandbox.machine_view import machine_view
from mooring.nodes.process.containers.sandbox.mount_table import MountPoint, aliases, mount_points
from mooring.nodes.process.containers.sandbox.rights import Rights, rights_of
from mooring.nodes.process.containers.sandbox.trusted_setpriv import is_trusted_variable
from mooring.nodes.process.containers.termination_message import termination_message
from tests.nodes.process.life import bound_pod, container


def test_a_folder_is_known_by_every_path_that_leads_to_it() -> None:
    text = (
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
        "28 27 254:0 /home/me /mnt/with\\040space rw shared:1 - ext4 /dev/vda rw\n"
        "29 27 254:0 /etc /mnt/etc rw - ext4 /dev/vda rw\n"
        "30 27 254:1 / /home/me/other rw - ext4 /dev/vdb rw\n"
    )
    mounts = mount_points(text)
    assert mounts[1] == MountPoint("254:0", "/home/me", "/mnt/with space", "ext4")
    assert aliases("/home/me/.mooring", mounts) == ["/home/me/.mooring", "/mnt/with space/.mooring"]
    assert aliases("/home/me/other/.mooring", mounts) == ["/home/me/other/.mooring"]


def test_disks_are_seen_but_not_what_is_made_anew(tmp_path: Path) -> None:
    places = [("/", "overlay"), ("/sys", "sysfs"), ("/dev/shm", "tmpfs"), ("/run/x", "ext4"), (str(tmp_path), "ext4")]
    mounts = [MountPoint(str(number), "/", path, kind) for number, (path, kind) in enumerate(places)]
    assert machine_view(tmp_path / "data", layered=True, mounts=mounts).disks == ("/", str(tmp_path))
    assert machine_view(tmp_path, layered=True, mounts=mounts).disks == ("/",)


def test_what_a_node_cannot_keep_to_is_said_or_refused() -> None:
    profile = {"seccompProfile": {"type": "RuntimeDefault"}}
    asked = container(securityContext={"capabilities": {"add": ["SYS_TIME"]}})
    pod = bound_pod(asked, securityContext=profile, hostPID=True)
    note = "this node cannot give capability SYS_TIME, hostPID, seccompProfile RuntimeDefault"
    assert rights_of(pod, asked, frozenset({"CHOWN"}), sandboxed=True) == Rights(
        frozenset({"CHOWN"}), frozenset(), note
    )
    frozen = container(securityContext={"readOnlyRootFilesystem": True})
    assert rights_of(bound_pod(frozen), frozen, frozenset(), sandboxed=True) == Rights()
    with pytest.raises(ConfigError, match="asks for readOnlyRootFilesystem, which this node cannot keep"):
        rights_of(bound_pod(frozen), frozen, frozenset(), sandboxed=False)


def test_capabilities_are_dropped_before_they_are_added() -> None:
    def of(**capabilities: list[str]) -> frozenset[str]:
        return capabilities_of(container(securityContext={"capabilities": capabilities}))[0]

    assert of() == DEFAULTS
    assert of(drop=["ALL"], add=["net_bind_service"]) == {"NET_BIND_SERVICE"}
    assert of(drop=["CAP_CHOWN"], add=["SYS_TIME"]) == (DEFAULTS | {"SYS_TIME"}) - {"CHOWN"}
    assert of(add=["ALL"], drop=["SYS_ADMIN"]) == frozenset(ALL) - {"SYS_ADMIN"}
    assert capabilities_of(container(securityContext={"privileged": True}))[0] == frozenset(ALL)


@pytest.mark.parametrize("name", ["LD_PRELOAD", "GLIBC_TUNABLES", "BASH_FUNC_echo%%", "GCONV_PATH", "ENV", "odd.name"])
def test_variables_that_programs_obey_wait_until_rights_are_gone(name: str) -> None:
    assert not is_trusted_variable(name)
    assert is_trusted_variable("ENVIRONMENT")


def test_the_termination_message_is_the_end_of_a_plain_file(tmp_path: Path) -> None:
    path = tmp_path / "message"
    assert termination_message(path) == ""
    path.write_text("a" * 5000 + "end")
    assert termination_message(path) == "a" * 4093 + "end"
    (tmp_path / "link").symlink_to(path)
    os.mkfifo(tmp_path / "fifo")
    assert termination_message(tmp_path / "link") == ""
    assert termination_message(tmp_path / "fifo") == ""
