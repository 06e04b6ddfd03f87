"""The last line of an answer with proposals: how what it proposes is applied, for where the workload came from."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Final

from mooring.cli.given_manifests import GivenManifests
from mooring.cli.render.page import TextPage
from mooring.runway.explain.explainer import PodOutcome

__all__ = ["add_application"]

# A command with this prints a manifest and changes nothing.
_LOCAL: Final = " --local "
_PIPE: Final = "| kubectl apply -f -"
# What an edit changes that a person can edit in a manifest.
_IN_MANIFEST: Final = ("pod", "workload")


def add_application(page: TextPage, outcomes: Iterable[PodOutcome], given: GivenManifests) -> None:
    text = _application(outcomes, given)
    if text:
        page.line()
        page.line(text)


def _application(outcomes: Iterable[PodOutcome], given: GivenManifests) -> str:
    advice = [each for outcome in outcomes if outcome.like is None for each in outcome.advice]
    commands = [each.command for each in advice if each.command]
    local = [command for command in commands if _LOCAL in command]
    if local and len(local) == len(commands):
        return f"To apply a change, paste its command with {_PIPE} behind it; alone it only prints the manifest."
    if local:
        return (
            f"To apply a change, paste its command, and {_PIPE} behind one with --local, which only prints a manifest."
        )
    edited = any(edit.target in _IN_MANIFEST for each in advice if not each.command for edit in each.edits)
    ways = [*(["paste its command"] if commands else []), *([_by_hand(given)] if edited else [])]
    return f"To apply a change, {', or '.join(ways)}." if ways else ""


def _by_hand(given: GivenManifests) -> str:
    if given.kustomization:
        folder = shlex.quote(given.kustomization)
        return f"edit what {folder} is made of and run kubectl apply -k {folder}"
    if given.urls:
        return f"save {given.urls[0]} as a file, edit it and run kubectl apply -f FILE"
    if given:
        return "edit the manifest and run kubectl apply -f FILE"
    return "delete what is there, which cannot be changed in place, and apply its manifest again with the change"
