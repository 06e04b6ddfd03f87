"""A group of commands in which a mistyped one is an error like any other: click's own code for it, 2, means something
else here."""

from __future__ import annotations

from typing import NoReturn

import click

__all__ = ["CommandGroup"]


class CommandGroup(click.Group):
    """Its commands are Commands, which see to their own usage."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            from mooring.kube.near_names import did_you_mean

            hint = did_you_mean(name, self.list_commands(ctx)) or "."
            self._refuse(f'there is no command "{name}"{hint}', ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            raise click.exceptions.Exit(1) from None
        except click.UsageError as error:
            self._refuse(error.format_message(), ctx)

    def _refuse(self, problem: str, ctx: click.Context) -> NoReturn:
        from mooring.cli.errors import ERROR, complain_of_usage

        complain_of_usage(problem, ctx)
        raise click.exceptions.Exit(ERROR)
