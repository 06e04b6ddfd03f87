"""Hosts that people lend, and notebook jobs that they run."""

from __future__ import annotations

from typing import Any, Final

from mooring.runway.feature_views.hosts import HostShown
from mooring.runway.feature_views.notebooks import NOTEBOOK_KIND, NotebookDetail, NotebookShown, notebook_detail
from mooring.runway.rest.mirror.sources import HOSTS, NOTEBOOKS
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.routes.fleet import listed
from mooring.runway.shown import Shown

__all__ = ["PEOPLE_ROUTES"]


class HostsShown(Shown, frozen=True):
    hosts: tuple[HostShown, ...]


class NotebooksShown(Shown, frozen=True):
    notebooks: tuple[NotebookShown, ...]


async def _hosts(call: RestCall) -> Any:
    return await listed(call, HOSTS)


async def _notebooks(call: RestCall) -> Any:
    return await listed(call, NOTEBOOKS)


async def _notebook(call: RestCall) -> NotebookDetail:
    return notebook_detail(await call.caller.transport.get(*NOTEBOOK_KIND, call.path["namespace"], call.path["name"]))


_ONE: Final = "/api/notebooks/{namespace}/{name}"
PEOPLE_ROUTES: Final = (
    Route("GET", "/api/hosts", "Hosts, free and claimed.", _hosts, HostsShown),
    Route("GET", "/api/notebooks", "Notebook jobs, and how far they are.", _notebooks, NotebooksShown),
    Route("GET", _ONE, "One notebook job, with every cell.", _notebook, NotebookDetail),
)
