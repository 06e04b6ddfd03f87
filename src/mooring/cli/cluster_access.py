"""Access to a cluster: the options --kubeconfig and --context, and the client."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport

__all__ = ["cluster_options", "connect"]

F = TypeVar("F", bound=Callable[..., object])


def cluster_options(command: F) -> F:
    """`--kubeconfig` and `--context`."""
    kubeconfig = click.option(
        "--kubeconfig",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The kubeconfig to use; otherwise the files of KUBECONFIG, ~/.kube/config, or a pod's service account.",
    )
    context = click.option("--context", metavar="NAME", help="The context of the kubeconfig to use.")
    return kubeconfig(context(command))


def connect(kubeconfig: Path | None, context: str | None, *, page: int | None = None) -> tuple[HttpTransport, str]:
    """A client of the cluster and the namespace of its context. No request is sent."""
    from mooring.client.http import PAGE, HttpTransport
    from mooring.client.kubeconfig import find_access

    access = find_access(kubeconfig, context)
    return HttpTransport(access, page=page or PAGE), access.namespace
