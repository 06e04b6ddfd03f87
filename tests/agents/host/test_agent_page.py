"""docs/agent.md: its commands, typed one after another on the embedded cluster, bring a host in."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mooring.testing.fixtures import missing
from mooring.testing.homes import EMBEDDED, whole
from mooring.testing.processes import ProgramProcess
from mooring.testing.tools import ToolMissing, tool
from tests.agents.host.played import eventually

PAGE = (Path(__file__).parents[3] / "docs" / "agent.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(os.geteuid() != 0, reason="An agent runs as root")
def test_the_commands_of_the_page_bring_a_host_in_and_clean_it(short_path: Path) -> None:
    try:
        kubectl = tool("kubectl")
    except ToolMissing as error:
        missing(error)
    making_a_token, starting, looking, resetting = BLOCKS
    programs = short_path / "bin"
    programs.mkdir()
    (programs / "kubectl").symlink_to(kubectl)
    own = ["--root", str(short_path / "root"), "--hostname-override", "node10", "--metricsbindaddress", "0"]
    with whole(EMBEDDED, short_path / "home") as home:
        environment = {"KUBECONFIG": str(home.kubeconfig), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

        def typed(command: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                ["sh", "-ec", command],
                cwd=short_path,
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                check=False,
            )

        made = typed(making_a_token)
        assert made.returncode == 0, made.stderr
        assert home.token not in (short_path / "bootstrap.yaml").read_text()

        program, *arguments = shlex.split(starting)
        assert program == "mooring"
        arguments = [str(short_path / word) if word.endswith(".yaml") else word for word in arguments]
        agent = ProgramProcess([sys.executable, "-m", "mooring", *arguments, *own], short_path / "agent.log")
        try:
            shown = eventually(lambda: found if "Available" in (found := typed(looking).stdout) else None, "the host")
            assert "node10" in shown
        finally:
            agent.stop()

        program, *arguments = shlex.split(resetting)
        done = subprocess.run(
            [sys.executable, "-m", "mooring", *arguments, *own], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
