"""The arguments of bubblewrap, and the command inside."""

from __future__ import annotations

from typing import Any

from mooring.nodes.process.containers.sandbox import Mount, inner_command, sandbox_arguments


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
