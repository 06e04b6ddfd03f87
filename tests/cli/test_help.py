"""What every command says of itself, and what each of its options takes: words, order, defaults and kinds of values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import pytest

from mooring.cli.main import COMMANDS, cli
from tests.support.golden import same_as_recorded

# As the settings of a terminal that is wide enough for no line to break at a place of its own.
WIDTH = 100


def commands(command: click.Command, above: click.Context | None, name: str) -> Iterator[tuple[str, click.Context]]:
    settings: Any = {**command.context_settings, "terminal_width": WIDTH}
    context = click.Context(command, above, info_name=name, **settings)
    yield context.command_path, context
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            assert inner is not None
            yield from commands(inner, context, each)


def declared(param: click.Parameter) -> str:
    """An option or argument as it was declared; what a callback makes of its default is told by the command."""
    facts = {
        "names": "/".join([*param.opts, *param.secondary_opts]),
        "arrives as": param.name,
        "type": _kind(param.type),
        "default": param.default,
        "required": param.required,
        "values": param.nargs,
        "many": param.multiple,
        "metavar": param.metavar,
        "eager": param.is_eager,
        "arrives": param.expose_value,
        "environment": param.envvar,
        "checked": getattr(param.callback, "__name__", None),
    }
    if isinstance(param, click.Option):
        facts |= {name: getattr(param, name) for name in ("is_flag", "flag_value", "count", "hidden", "show_default")}
    return "  ".join(f"{name}={value!r}" for name, value in facts.items() if _is_told(value))


def _kind(kind: Any) -> str:
    if not isinstance(kind, click.Path):
        return repr(kind)
    asked = ("exists", "file_okay", "dir_okay", "readable", "writable", "executable", "resolve_path", "allow_dash")
    return " ".join([getattr(kind.type, "__name__", "text"), *(name for name in asked if getattr(kind, name))])


def _is_told(value: object) -> bool:
    return value not in (None, "") and value is not False and "UNSET" not in repr(value)


def test_every_command_says_what_it_said_of_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "LINES", "KUBECONFIG", "HOME"):
        monkeypatch.setenv(name, "100" if name == "COLUMNS" else "/nowhere")
    found = {}
    for path, context in commands(cli, None, "mooring"):
        # Click keeps the option by which a command was first asked for help, which a test may have done by itself.
        monkeypatch.setattr(context.command, "_help_option", None)
        told = [context.command.get_help(context), "", *map(declared, context.command.get_params(context))]
        found[path] = "\n".join(told)
    assert {f"mooring {name}" for name in COMMANDS} < found.keys()
    same_as_recorded("cli-help", found)
