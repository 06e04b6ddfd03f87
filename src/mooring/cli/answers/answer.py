"""A question to `explain`, and an answer that is shown as a page or as data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mooring.cli.given_manifests import GivenManifests
from mooring.cli.render.page import TextPage
from mooring.runtime.settings import Configuration
from mooring.runway.explain.explain_target import ExplainTarget

__all__ = ["Question", "ShownAnswer"]


class Question(NamedTuple):
    # What to look up in the cluster; None where manifests say what to place.
    target: ExplainTarget | None
    given: GivenManifests
    configuration: Configuration
    # The namespace that was given; without it the one of the context counts, or all of them.
    namespace: str = ""
    everywhere: bool = False
    # Whether the whole answer of every pod is wanted, for programs.
    thorough: bool = False
    all_nodes: bool = False
    limit: int = 5
    percentage: int = 100


class ShownAnswer(NamedTuple):
    page: Callable[[], TextPage]
    data: Callable[[], dict[str, Any]]
    # What the command ends with.
    exit_code: int
