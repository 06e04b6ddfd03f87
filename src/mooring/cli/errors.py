"""How a command ends when something is wrong: one line on standard error and an exit code, never a traceback.

0    it lands
1    the input cannot be used, or the output pipe is closed
2    some pod cannot land
3    some pod may land: something about it cannot be known
130  interrupted
"""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable
from typing import Any, Final, ParamSpec

import click

from mooring.kube.errors import MooringError

P = ParamSpec("P")

LANDS = 0
ERROR = 1
CANNOT_LAND = 2
MAY_LAND = 3
INTERRUPTED = 130
EXIT_CODES: Final = {"lands": LANDS, "cannot": CANNOT_LAND, "may": MAY_LAND}
# The errors of standard output: nobody reads it, or it has no room.
_OUTPUT_ERRORS: Final = (errno.EPIPE, errno.ENOSPC)


def complain(problem: str) -> None:
    # Texts from files may hold line breaks and control characters; the complaint stays one line.
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "�" for c in problem).split())
    click.echo(f"error: {line}", err=True)


def complain_of_io(error: OSError) -> None:
    """One line about a file, or about the output; none where nobody reads it any more."""
    if not isinstance(error, BrokenPipeError):
        complain(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
    if not error.filename and error.errno in _OUTPUT_ERRORS:
        # Python would complain once more when it closes the stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain_of_usage(problem: str, context: click.Context | None) -> None:
    where = context.command_path if context else "mooring"
    complain(f"{problem}{'' if problem[-1] in '.?)' else '.'} See {where} --help.")


class Command(click.Command):
    """A command whose wrong usage is an error like any other: click's own code for it, 2, means something else here."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            complain_of_usage(error.format_message(), error.ctx)
            raise click.exceptions.Exit(ERROR) from None


def exit_code(command: Callable[P, int]) -> Callable[P, None]:
    """Makes a function that returns an exit code into a command's callback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except MooringError as error:
            complain(str(error))
            code = ERROR
        except OSError as error:
            complain_of_io(error)
            code = ERROR
        except KeyboardInterrupt:
            code = INTERRUPTED
        click.get_current_context().exit(code)

    return run
