"""What advice is made of: edits a program can apply, and a sentence and a command for people.

An edit sets one path of one object to a new value, or removes it. Everything that is shown was made by applying
exactly these edits and asking the engine, so applying them gives what the advice promises.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import msgspec

from mooring.kube.objects import Object
from mooring.placement.node_pools import NodePool
from mooring.placement.writes import Commands, Write, all_writes

# Advice may help on thousands of nodes; this many are named.
MAX_NAMED = 50


class AdviceKind(IntEnum):
    """What an advice does, from the change that disturbs least to the one that disturbs most.

    A correction is what the author meant, so it comes first. Then come changes to this workload alone, those that keep
    what it asks for before those that give it up; then changes to nodes; then those that cost machines, take nodes from
    what they are labelled for, or cost other pods.
    """

    CORRECT = 0
    UNGATE = 1
    TOLERATE = 2
    WIDEN = 3
    PORT = 4
    LOWER = 5
    RELAX = 6
    LEAVE_OUT = 7
    DROP = 8
    SCALE = 9
    UNCORDON = 10
    BRING_BACK = 11
    LABEL = 12
    UNLABEL = 13
    UNTAINT = 14
    RAISE_POOL = 15
    ADD_NODE = 16
    RELABEL = 17
    PRIORITISE = 18
    EVICT = 19


def pod_target(template: str, asked: str) -> str:
    """The target of edits of pods of a template, where advice is asked for a pod of another."""
    return "pod" if template == asked else f"pod/{template}"


def is_of_pod(edit: Edit) -> bool:
    """Whether an edit changes a template of the workload."""
    return edit.target.partition("/")[0] == "pod"


class Edit(msgspec.Struct, frozen=True):
    """One atomic change. `after` None removes the path; a path that ends in `/-` appends.

    The target `pod` is the template of the pod that advice is asked for; `pod/TEMPLATE` is another one of its workload.
    """

    target: str
    op: str
    path: str
    before: Any
    after: Any

    def to_json(self) -> Object:
        return {
            "target": self.target,
            "op": self.op,
            "path": self.path,
            "before": self.before,
            "after": self.after,
        }


class Advice(msgspec.Struct, frozen=True):
    """A change, or several together, that lets the pod in, confirmed by the engine."""

    kind: AdviceKind
    title: str
    edits: tuple[Edit, ...]
    # What to run, one after another; empty where nothing can be given.
    commands: Commands = ()
    # Nodes that would take the pod after these edits, in the scheduler's order.
    nodes: tuple[str, ...] = ()
    node_count: int = 0
    victims: tuple[str, ...] = ()
    # Other nodes on which the same edit would do instead.
    alternatives: tuple[str, ...] = ()
    alternative_count: int = 0
    # The same edit of two nodes, of three, and so on, for a workload that one of them is too few for.
    wider: tuple[Advice, ...] = ()
    # Shown only where there is nothing better to say.
    last_resort: bool = False
    # The pods of the workload that have a place afterwards; None where that was not tried.
    brings: frozenset[str] | None = None
    # The pool that brings the nodes which are added.
    pool: NodePool | None = None
    # The changes that help only together, in the order in which they are made; empty for a single one.
    parts: tuple[Advice, ...] = ()

    @property
    def command(self) -> str | None:
        """The commands as one line to paste."""
        return " && ".join(command.text for command in self.commands) or None

    @property
    def writes(self) -> tuple[Write, ...]:
        return all_writes(self.commands)

    @property
    def changes(self) -> int:
        """How many changes these are; one that takes several edits is still one."""
        return max(len(self.parts), 1)

    def to_json(self) -> Object:
        answer: Object = {
            "title": self.title,
            "edits": [edit.to_json() for edit in self.edits],
            "command": self.command,
            "nodes": list(self.nodes),
            "nodeCount": self.node_count,
        }
        if self.brings is not None:
            answer["brings"] = len(self.brings)
        if self.parts:
            answer["parts"] = [part.title for part in self.parts]
        if self.victims:
            answer["victims"] = list(self.victims)
        if self.alternatives:
            answer["alternatives"] = list(self.alternatives)
            answer["alternativeCount"] = self.alternative_count
        return answer


class CommandTarget(msgspec.Struct, frozen=True):
    """What commands act on: the object that the pod comes from."""

    kind: str
    name: str
    namespace: str
    # Where the pod stands in the object: "" for a bare Pod, "/spec/template" for a Deployment.
    pod_path: str = ""
    # The manifest that was given; commands then print it corrected, before anything is applied.
    file: str | None = None
    # Whether the object exists in the cluster.
    live: bool = False
    # The object as it was written, without defaults; patches must not replace what is only defaulted.
    manifest: Object | None = None
    # The parts of the pod, as JSON pointers, that its author cannot edit.
    fixed: tuple[str, ...] = ()
    # Where the parts of the pod that can be edited stand in an object without a template; see WorkloadKind.
    fields: Mapping[str, str] = msgspec.field(default_factory=dict)
    # The first of its pods that waits.
    waiting: str = ""
    # Without it there are commands to paste and no writes.
    api_version: str = ""

    def edit_in_object(self, edit: Edit) -> Edit | None:
        """An edit of the pod as one of an object without a template; None where its author cannot make it."""
        for part, place in self.fields.items():
            if edit.path == part or edit.path.startswith(f"{part}/"):
                return msgspec.structs.replace(edit, path=place + edit.path.removeprefix(part))
        return None

    def can_edit(self, edit: Edit) -> bool:
        """Whether the author of the object can make an edit of the pod."""
        return self.edit_in_object(edit) is not None if self.fields else not edit.path.startswith(self.fixed)
