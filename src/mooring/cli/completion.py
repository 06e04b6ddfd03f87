"""`mooring completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

import click

from mooring.cli.errors import LANDS, Command, exit_code

__all__ = ["command"]

SHELLS = ("bash", "zsh", "fish")
# The variable by which the script asks the program for completions.
_VARIABLE = "_MOORING_COMPLETE"


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(SHELLS), metavar="bash|zsh|fish")
@click.pass_context
@exit_code
def command(ctx: click.Context, shell: str) -> int:
    """Print the script that lets a shell complete commands and options of mooring.

    \b
      source <(mooring completion bash)                                in ~/.bashrc
      source <(mooring completion zsh)                                 in ~/.zshrc, after compinit
      mooring completion fish > ~/.config/fish/completions/mooring.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(ctx.find_root().command, {}, "mooring", _VARIABLE).source())
    return LANDS
