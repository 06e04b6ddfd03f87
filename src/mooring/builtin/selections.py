"""Which pods a PodDisruptionBudget or a Service selects, kept as pods and selectors change.

Listing a namespace for every change of one of its pods would cost the namespace each time. A key that asks is woken for
the changes of all, at most a few times a second, and sees by the version of its own selection whether it is concerned.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

import msgspec

from mooring.api.core.views import Pod, Service
from mooring.api.kinds import Key, Kind
from mooring.api.policy.views import PodDisruptionBudget
from mooring.kube.errors import SelectorError
from mooring.kube.selectors import NOTHING, Selector, selector_from_dict, selector_from_labels
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.folds import Fold
from mooring.workloads.kinds import POD, POD_DISRUPTION_BUDGET, SERVICE

MIN_WAKE_INTERVAL: Final = timedelta(milliseconds=200)
_NO_PODS: Final[dict[Key, Pod]] = {}


class Selection:
    """The pods of one selector. `version` grows with every change that may matter to a selector's reader."""

    __slots__ = ("members", "selector", "version")

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self.members: dict[Key, Pod] = {}
        self.version = 0


class Selections:
    def __init__(self) -> None:
        self._pods: dict[str, dict[Key, Pod]] = {}
        # By namespace, then by who selects.
        self._selections: dict[str, dict[tuple[Kind[Any], Key], Selection]] = {}
        # The selections that a pod is in, for those that are in any.
        self._holding: dict[Key, list[Selection]] = {}

    def of(self, kind: Kind[Any], key: Key) -> Selection | None:
        """The selection of a budget or a Service; None for one without a selector."""
        return self._selections.get(key.namespace, {}).get((kind, key))

    def change(self, kind: Kind[Any], change: Changed) -> bool:
        """Take a change in; whether any selection is not what it was."""
        if kind is POD:
            return self._change_pod(change.key, change.old, change.new)
        before = None if change.old is None else selector_of(change.old)
        after = None if change.new is None else selector_of(change.new)
        if before == after:
            return False
        self._select(kind, change.key, after)
        return True

    def _change_pod(self, key: Key, old: Pod | None, new: Pod | None) -> bool:
        if new is None:
            del self._pods[key.namespace][key]
            left = self._holding.pop(key, [])
            for selection in left:
                del selection.members[key]
                selection.version += 1
            return bool(left)
        self._pods.setdefault(key.namespace, {})[key] = new
        if old is not None and old.metadata.labels == new.metadata.labels:
            held = self._holding.get(key, ())
            return self._update(key, held, new, news=not _looks_the_same(old, new))
        return self._move(key, new)

    def _update(self, key: Key, held: Iterable[Selection], pod: Pod, *, news: bool) -> bool:
        woken = False
        for selection in held:
            selection.members[key] = pod
            selection.version += news
            woken = news
        return woken

    def _move(self, key: Key, pod: Pod) -> bool:
        """Put a new pod, or one with new labels, into the selections that match it now."""
        before = self._holding.pop(key, [])
        labels = pod.metadata.labels
        every = self._selections.get(key.namespace, {}).values()
        after = [selection for selection in every if selection.selector.matches(labels)]
        for selection in before:
            del selection.members[key]
            selection.version += 1
        if after:
            self._holding[key] = after
            self._update(key, after, pod, news=True)
        return bool(before or after)

    def _select(self, kind: Kind[Any], key: Key, selector: Selector | None) -> None:
        here = self._selections.setdefault(key.namespace, {})
        gone = here.pop((kind, key), None)
        if gone is not None:
            self._let_go(gone)
        if selector is None:
            if not here:
                del self._selections[key.namespace]
            return
        made = here[kind, key] = Selection(selector)
        # Two selections of one key must not have one version: a reader compares versions.
        made.version = 0 if gone is None else gone.version + 1
        for pod, view in self._pods.get(key.namespace, _NO_PODS).items():
            if selector.matches(view.metadata.labels):
                made.members[pod] = view
                self._holding.setdefault(pod, []).append(made)

    def _let_go(self, gone: Selection) -> None:
        for pod in gone.members:
            held = self._holding[pod]
            held.remove(gone)
            if not held:
                del self._holding[pod]


def selector_of(obj: PodDisruptionBudget | Service) -> Selector | None:
    """The pods that are meant; None where there is nothing to select by, and no pods where the selector is invalid."""
    wanted = obj.spec.selector
    if isinstance(obj, Service):
        return selector_from_labels(obj.spec.selector) if wanted else None
    if wanted is None:
        return NOTHING
    try:
        return selector_from_dict({k: v for k, v in msgspec.to_builtins(wanted).items() if v is not None})
    except SelectorError:
        return NOTHING


def _looks_the_same(old: Pod, new: Pod) -> bool:
    """Whether nothing changed that a reader of selections reads of a pod."""
    before, after = old.status, new.status
    return (
        old.ready == new.ready
        and old.finished == new.finished
        and old.metadata.deleting == new.metadata.deleting
        and old.metadata.uid == new.metadata.uid
        and before.pod_ips == after.pod_ips
        and old.spec.node_name == new.spec.node_name
        and old.metadata.owner_references == new.metadata.owner_references
    )


SELECTIONS = Fold("selections", (POD, POD_DISRUPTION_BUDGET, SERVICE), Selections, Selections.change, MIN_WAKE_INTERVAL)
