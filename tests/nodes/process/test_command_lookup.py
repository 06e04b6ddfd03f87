"""A command is found where the container would find it."""

from __future__ import annotations

from typing import Any

from mooring.nodes.process.containers.environment.command_lookup import start_problem
from mooring.nodes.process.containers.sandbox.command import Mount


def test_a_command_is_looked_for_where_the_container_would_find_it(tmp_path: Any) -> None:
    script = tmp_path / "run"
    script.touch(mode=0o755)
    mounts = [Mount(str(tmp_path), "/scripts")]
    assert start_problem("/scripts/run", "", "/", mounts) == ""
    assert start_problem("run", "/bin:/scripts", "/", mounts) == ""
    assert start_problem("./run", "", "/scripts", mounts) == ""
    missing = 'command "run" cannot be run: no executable file of this name is in the PATH of the container, /bin'
    assert start_problem("run", "/bin", "/", mounts) == missing
    assert "no such file or directory" in start_problem("sh", "/bin", "/no/such/folder", mounts)
    script.chmod(0o644)
    assert start_problem("/scripts/run", "", "/", mounts) == (
        'command "/scripts/run" cannot be run: the file is not executable'
    )
