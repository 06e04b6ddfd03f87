"""Options that the commands of runway share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import click

__all__ = ["FORMATS", "gpu_operator_options", "kaito_options", "output_option", "snapshot_option"]

F = TypeVar("F", bound=Callable[..., object])

FORMATS: Final = ("text", "json", "yaml")


def output_option(command: F) -> F:
    return click.option("-o", "--output", "form", type=click.Choice(FORMATS), default="text", help="How to answer.")(
        command
    )


def snapshot_option(command: F) -> F:
    return click.option(
        "--snapshot",
        "snapshots",
        multiple=True,
        metavar="FILE",
        help="Look at this snapshot of a cluster instead of at the cluster of the kubeconfig.",
    )(command)


def kaito_options(command: F) -> F:
    """`--kaito-version` and `--kaito-repository`, or the environment."""
    version = click.option(
        "--kaito-version",
        envvar="MOORING_KAITO_VERSION",
        metavar="VERSION",
        help="The version of KAITO: 0.8.0 by default. One before 0.8 is a rollback, also of the node selector.",
    )
    repository = click.option(
        "--kaito-repository",
        envvar="MOORING_KAITO_REPOSITORY",
        metavar="URL",
        help="The Helm repository with KAITO's charts.",
    )
    return version(repository(command))


def gpu_operator_options(command: F) -> F:
    """`--gpu-operator-version` and `--gpu-operator-repository`, or the environment."""
    version = click.option(
        "--gpu-operator-version",
        envvar="MOORING_GPU_OPERATOR_VERSION",
        metavar="VERSION",
        help="The version of NVIDIA's GPU Operator: v25.10.1 by default.",
    )
    repository = click.option(
        "--gpu-operator-repository",
        envvar="MOORING_GPU_OPERATOR_REPOSITORY",
        metavar="URL",
        help="The Helm repository with its chart.",
    )
    return version(repository(command))
