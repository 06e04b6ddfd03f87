"""Where `mooring` starts: a group that imports a command's module only when that command is asked for.

Help and shell completion must answer within 150 ms, and most commands need libraries that cost more than that to
import. So the group knows each command by its name, its module and its one-line help, and nothing else.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from pathlib import PurePath
from typing import Final

import click

import mooring
from mooring.cli.command_group import CommandGroup

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "plan": (
        "mooring.cli.plan",
        "Carry workloads out in memory and say which pod is scheduled where and when.",
    ),
    "explain": (
        "mooring.cli.explain",
        "Where a pod would be scheduled and why, or what keeps it off all nodes and what would help.",
    ),
    "snapshot": (
        "mooring.cli.snapshot",
        "Write what placement depends on in a cluster to one file.",
    ),
    "shadow": (
        "mooring.cli.shadow",
        "Predict what a running scheduler does, and say how often that was right.",
    ),
    "notebook": (
        "mooring.cli.notebook.commands",
        "Run a notebook and compare it with a golden one, or fetch the report of a job.",
    ),
    "pools": (
        "mooring.cli.pools",
        "List the pools that an autoscaler scales, and say what it has decided about one.",
    ),
    "deploy": (
        "mooring.cli.runway.deploy",
        "Deploy a model, and say where it lands or what keeps it from that.",
    ),
    "deployments": (
        "mooring.cli.runway.deployments",
        "List the models that are deployed; show one, read its log, delete it.",
    ),
    "providers": (
        "mooring.cli.runway.providers",
        "List what can run models, and how it is installed.",
    ),
    "capacity": (
        "mooring.cli.runway.capacity",
        "Say how many GPUs are free, by node, pool and kind, and the largest pod that fits.",
    ),
    "doctor": (
        "mooring.cli.doctor",
        "Say what keeps pools from their nodes, and the command that mends it.",
    ),
    "install": (
        "mooring.cli.installation.install",
        "Install what a provider of models needs in a cluster, with Helm.",
    ),
    "uninstall": (
        "mooring.cli.installation.uninstall",
        "Uninstall what was installed for a provider of models.",
    ),
    "installations": (
        "mooring.cli.installation.installations",
        "List what is installed with Helm in a cluster, and how far it is.",
    ),
    "run": (
        "mooring.cli.run",
        "Run chosen controllers against any cluster.",
    ),
    "up": (
        "mooring.cli.up",
        "Run a Kubernetes API with controllers and simulated nodes on this machine.",
    ),
    "ui": (
        "mooring.cli.ui",
        "Serve the page and the REST API for people, for any cluster.",
    ),
    "agent": (
        "mooring.cli.agent",
        "Make this machine a host that pools can claim, and a node of Kubernetes while one has.",
    ),
    "backup": (
        "mooring.cli.backup",
        "Write everything that the cluster of mooring up holds to one file.",
    ),
    "restore": (
        "mooring.cli.restore",
        "Put a backup into the folder of a cluster.",
    ),
    "token": (
        "mooring.cli.token",
        "Let others use the cluster of mooring up.",
    ),
    "completion": (
        "mooring.cli.completion",
        "Print the script that lets a shell complete commands and options.",
    ),
}
"""Command name to the module that defines it (as `command`) and the line that `--help` shows."""


class LazyGroup(CommandGroup):
    """A click group whose commands are imported when they are invoked."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = importlib.import_module(entry[0]).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if COMMANDS:
            with formatter.section("Commands"):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(mooring.__version__, prog_name="mooring")
def cli() -> None:
    """Mooring says where a workload will land before it is applied, and, when it cannot land, names the smallest
    change that would let it."""


def program_name(argv0: str) -> str:
    """The name that usage lines show: kubectl runs a plug-in as `kubectl-mooring`, people type it with a space."""
    return "kubectl mooring" if PurePath(argv0).name.startswith("kubectl-") else "mooring"


def main() -> None:
    # What is imported stays, and looking for garbage in it after every few hundred objects took a tenth of an answer.
    gc.set_threshold(50_000, 20, 20)
    # Python looks through everything once more when it exits, though the process takes it all along.
    atexit.register(gc.freeze)
    # NumPy starts a thread per core for linear algebra when it is imported; nothing here uses it, and it costs 100 ms.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        cli(prog_name=program_name(sys.argv[0]))
    except OSError as error:
        # Of a command's own errors nothing comes here: this is help or a version that could not be written.
        from mooring.cli.errors import ERROR, complain_of_io

        complain_of_io(error)
        sys.exit(ERROR)
