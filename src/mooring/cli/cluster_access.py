"""Access to a cluster: the options --kubeconfig and --context, the client, and the errors of a refusal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport
    from mooring.kube.status import ApiError

__all__ = ["cluster_options", "connect", "refusal"]

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


def refusal(server: str, doing: str, error: ApiError) -> InputError:
    """The error for a request that the server refused."""
    from mooring.kube.status import ForbiddenError, UnauthorizedError

    if isinstance(error, UnauthorizedError):
        return InputError(
            f"{server} does not accept these credentials ({error}); they may have expired: log in again, "
            "or choose others with --kubeconfig and --context"
        )
    if isinstance(error, ForbiddenError):
        return InputError(f"{server} does not let you {doing}: {error}")
    return InputError(f"{server} did not let itself be asked to {doing}: {error}")
