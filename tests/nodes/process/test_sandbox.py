"""The arguments of bubblewrap, and the command inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mooring.nodes.process.containers.sandbox.command import (
    Mount,
    Sandbox,
    inner_command,
    sandbox_arguments,
    target_problem,
)
from mooring.nodes.process.containers.sandbox.machine_view import MachineView

NOT_ROOT = MachineView((), (), (), layered=False, root=False)
ROOT = NOT_ROOT._replace(root=True)


def test_the_user_the_rights_and_the_limit_stand_before_the_command() -> None:
    plain: Any = {"user": None, "group": None, "groups": (), "capabilities": ["KILL", "CHOWN"], "memory": None}
    assert inner_command(["run"], setpriv=(), **plain) == ["run"]
    assert inner_command(["run"], setpriv=["setpriv"], **plain) == [
        *("setpriv", "--bounding-set=-all,+chown,+kill", "--no-new-privs"),
        *("--inh-caps=-all", "--ambient-caps=-all", "--", "run"),
    ]
    given = {**plain, "user": 1, "groups": (7, 3), "memory": 1024}
    limited = inner_command(["run"], setpriv=["setpriv"], kept=["KILL"], **given)
    assert limited[3:] == [
        *("--inh-caps=-all,+kill", "--ambient-caps=-all,+kill", "--reuid=1", "--regid=0", "--groups=3,7", "--"),
        *("prlimit", "--data=1024:1024", "--", "run"),
    ]


def arguments(*mounts: Mount, view: MachineView = NOT_ROOT, **more: Any) -> list[str]:
    sandbox = Sandbox(view, mounts, **more)
    return sandbox_arguments(
        sandbox, {"A": "1"}, hostname="h" * 70, folder="/", status_fd=3, capabilities=["NET_RAW", "SETUID"]
    )


def in_memory(*mounts: Mount, **more: Any) -> list[str]:
    found = arguments(*mounts, **more)
    return [found[number + 1] for number, word in enumerate(found) if word == "--tmpfs"]


def text(*mounts: Mount, **more: Any) -> str:
    return " ".join(arguments(*mounts, **more))


def test_without_a_layer_a_mount_path_that_is_missing_is_made_in_memory() -> None:
    found = text(Mount("/src", "/etc/none/deep"))
    assert "--tmpfs /etc " in found
    assert "--ro-bind /etc /.machine/etc" in found
    assert "--symlink /.machine/etc/passwd /etc/passwd" in found
    assert found.index("--tmpfs /etc ") < found.index("--bind /src /etc/none/deep")
    # The root is in memory anyway, and what is there can be mounted over.
    made = ["/dev", "/dev/shm", "/run"]
    assert in_memory(Mount("/src", "/none"), Mount("/src", "/usr/bin")) == made


def test_outer_mounts_come_before_inner_ones_and_links_are_resolved() -> None:
    found = arguments(Mount("/b", "/none/in", True), Mount("/a", "/none"))
    assert found.index("/a") < found.index("/b")
    assert found[found.index("/b") - 1] == "--ro-bind"
    assert "/none" not in in_memory(Mount("/b", "/none/in"), Mount("/a", "/none"))


def test_the_folders_on_the_way_to_a_mount_are_open_to_whoever_the_container_runs_as() -> None:
    found = text(
        Mount("/src", "/run/secrets/kubernetes.io/account"), Mount("/a", "/none/deep"), Mount("/b", "/none/deep/x/y")
    )
    way = "--perms 0755 --dir /run/secrets --perms 0755 --dir /run/secrets/kubernetes.io --bind /src"
    assert way in found
    assert "--perms 0755 --dir /none --bind /a /none/deep" in found
    # What lies in a volume is the pod's.
    assert "--dir /none/deep" not in found
    assert "--dir" not in text(Mount("/src", "/usr/share/new"))


def test_without_a_layer_only_the_places_for_passing_files_can_be_written_to() -> None:
    found = text(scratch="/scratch")
    assert "--bind-try" not in found
    assert "--bind /scratch/0 /tmp --bind /scratch/1 /var/tmp" in found
    assert "/scratch" not in text(scratch="/scratch", read_only=True)


def test_a_layer_takes_the_place_of_the_machine_and_can_be_read_only() -> None:
    disks = [("/l/0", "/"), ("/l/1", "/home")]
    assert "--bind /l/0 / --bind /l/1 /home --proc /proc" in text(overlays=disks)
    # A disk that cannot have a layer stands for itself, and cannot be written to.
    assert "--bind /l/0 / --ro-bind-try /mnt /mnt --proc" in text(overlays=[("/l/0", "/"), ("/mnt", "/mnt")])
    assert "--remount-ro /run --remount-ro /home --remount-ro / --chdir" in text(overlays=disks, read_only=True)


def test_the_data_folder_and_keys_are_covered_wherever_they_can_be_reached(tmp_path: Path) -> None:
    data, key = tmp_path / "data", tmp_path / "key"
    data.mkdir()
    key.touch()
    view = NOT_ROOT._replace(data=(str(data),), keys=(str(key),))
    found = text(Mount(str(tmp_path), "/here"), overlays=[("/l/0", "/")], view=view)
    assert f"--perms 0555 --tmpfs {data} --ro-bind /dev/null {key}" in found
    assert f"--bind {tmp_path} /here --perms 0555 --tmpfs /here/data" in found
    assert "--bind / /all --proc /all/proc" in text(Mount("/", "/all"))
    assert "--bind /proc /p --proc /p " in text(Mount("/proc", "/p"))
    # In a folder that is rebuilt in memory, the original lies beside it.
    rebuilt = text(Mount("/src", f"{tmp_path}/none/x"), view=view)
    assert f"--tmpfs {data} " in rebuilt
    assert f"--tmpfs /.machine{data} --ro-bind /dev/null /.machine{key}" in rebuilt


def test_root_keeps_few_rights_and_no_way_to_the_settings_of_the_machine() -> None:
    found = text(view=ROOT)
    assert "--proc /proc --ro-bind /proc/sys /proc/sys --ro-bind /sys /sys" in found
    names = ("NET_RAW", "SETGID", "SETPCAP", "SETUID")
    assert " ".join(["--cap-drop ALL", *(f"--cap-add CAP_{name}" for name in names)]) in found
    assert "--remount-ro /.mooring" in found
    assert "--dev-bind /dev /dev" in text(view=ROOT, privileged=True)


def test_shared_memory_has_a_size_where_memory_is_limited() -> None:
    assert "--perms 1777 --size 4096 --tmpfs /dev/shm" in text(shared_memory=4096)
    assert "--perms 1777 --tmpfs /dev/shm" in text()


def test_mount_paths_do_not_lead_through_links_that_a_container_made(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("/etc")
    outer = Mount(str(tmp_path), "/vol")
    assert target_problem([outer, Mount("/src", "/vol/real/x"), Mount("/src", "/etc/x")]) == ""
    assert "leads through a symbolic link in the volume at /vol" in target_problem([outer, Mount("/s", "/vol/link/x")])
    for place in ("/", "/etc/", "/etc/ld.so.preload", "/.mooring", "/x/../.mooring/setpriv"):
        assert "the sandbox needs it itself" in target_problem([Mount("/src", place)])
