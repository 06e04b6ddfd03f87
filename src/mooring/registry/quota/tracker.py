"""Holds quotas: refuses what would exceed one, and keeps what each says to be used true.

On a real cluster an admission plug-in adds to what is used, and a controller puts it right from time to time. Here it
changes with the very write that changes it, so that it is never wrong and two writes at once cannot exceed it together.
"""

from collections.abc import Iterable, Mapping

from mooring.kube.objects import Object
from mooring.kube.quantities import ZERO, parse_quantity
from mooring.kube.status import ForbiddenError
from mooring.registry.admission.chain import AdmissionRequest
from mooring.registry.core import Core
from mooring.registry.history import HistoryEntry
from mooring.registry.quota.scopes import is_terminating, matches_scopes
from mooring.registry.quota.usage import Amounts, concerned, is_charged, missing_requests, stores_of, usage

__all__ = ["QuotaTracker"]

_QUOTAS = "resourcequotas"
# Kinds of which a later version may take more than an earlier one.
_GROWING = frozenset({"services", "persistentvolumeclaims", "resourceclaims.resource.k8s.io"})


class QuotaTracker:
    """Follows every change of a registry from the first quota on."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._resource = core.resources.of_kind("v1", "ResourceQuota")
        self._writing = False
        core.on_change, core.check_quota = self._changed, self.check
        for quota in core.storage.items(_QUOTAS):
            if _status_hard(quota) != _hard(quota):
                self._settle(quota)

    def _of(self, namespace: str) -> list[Object]:
        return self._core.storage.items(_QUOTAS, namespace)

    # Refusing

    def check(self, request: AdmissionRequest, now: str) -> None:
        """Raise ForbiddenError if the write would exceed a quota of its namespace."""
        if not request.namespace or request.object is None or not _may_take_more(request):
            return
        for quota in self._of(request.namespace):
            self._check(quota, request, now)

    def _check(self, quota: Object, request: AdmissionRequest, now: str) -> None:
        obj, store = request.object, request.resource.store
        status = quota.get("status") or {}
        hard = _amounts(status.get("hard"))
        names = concerned(store, hard)
        if obj is None or not names or not matches_scopes(quota, store, obj):
            return
        name = quota["metadata"]["name"]
        if store == "pods" and (missing := missing_requests(obj, names)):
            raise _refusal(request, f"failed quota: {name}: {missing}")
        used = _amounts(status.get("used"))
        if unknown := [each for each in names if each not in used]:
            raise _refusal(request, f"status unknown for quota: {name}, resources: {','.join(sorted(unknown))}")
        asked = {each: amount for each, amount in self._asked(quota, request).items() if amount and each in hard}
        if not _exceeded(used, asked, hard):
            return
        # Pods that should be gone still count in what is on record: before a refusal it is counted anew.
        used = self._count(quota, now)
        if used != _amounts(status.get("used")) and not request.dry_run:
            self._write(quota, status["hard"], used)
        if exceeded := _exceeded(used, asked, hard):
            told = (f"{word}: {_shown(each, exceeded)}" for word, each in _words(asked, used, hard))
            raise _refusal(request, f"exceeded quota: {name}, {', '.join(told)}")

    def _asked(self, quota: Object, request: AdmissionRequest) -> Amounts:
        obj, old, store = request.object, request.old_object, request.resource.store
        assert obj is not None, "a deletion asks for nothing"
        wanted = usage(store, obj)
        if old is None or not matches_scopes(quota, store, old):
            return wanted
        before = usage(store, old)
        return {name: max(amount - before.get(name, ZERO), ZERO) for name, amount in wanted.items()}

    # Counting

    def _changed(self, store: str, change: HistoryEntry) -> None:
        new, old = change.object, change.previous
        if not change.namespace or (store == "pods" and _is_still_the_same(new, old)):
            return
        for quota in self._of(change.namespace):
            self._charge(quota, store, new, old)
        if store == _QUOTAS and new is not None and not self._writing:
            self._settle(self._core.storage.get(_QUOTAS, change.namespace, change.name) or new)

    def _charge(self, quota: Object, store: str, new: Object | None, old: Object | None) -> None:
        status = quota.get("status") or {}
        names = concerned(store, status.get("hard") or ())
        if not names:
            return
        before, after = (
            usage(store, obj) if obj is not None and matches_scopes(quota, store, obj) else {} for obj in (old, new)
        )
        used = _amounts(status.get("used"))
        changed = {name: used.get(name, ZERO) + after.get(name, ZERO) - before.get(name, ZERO) for name in names}
        if any(changed[name] != used.get(name) for name in names):
            self._write(quota, status["hard"], used | {name: max(each, ZERO) for name, each in changed.items()})

    def _settle(self, quota: Object) -> None:
        """Count what a quota is about from the beginning: it is new, about something else, or says what is not so."""
        hard, used = _hard(quota), self._count(quota)
        if _status_hard(quota) != hard or _amounts((quota.get("status") or {}).get("used")) != used:
            self._write(quota, hard, used)

    def _count(self, quota: Object, now: str | None = None) -> Amounts:
        hard, namespace = _hard(quota), quota["metadata"]["namespace"]
        found: Amounts = {}
        for store in stores_of(hard):
            if not self._core.resources.in_store(store):
                continue
            names = concerned(store, hard)
            found |= {name: found.get(name, ZERO) for name in names}
            for obj in self._core.storage.items(store, namespace):
                if matches_scopes(quota, store, obj):
                    taken = usage(store, obj, now)
                    found |= {name: found[name] + taken[name] for name in names if name in taken}
        return found

    def _write(self, quota: Object, hard: Mapping[str, str], used: Amounts) -> None:
        shown = {name: str(used[name]) for name in sorted(used)}
        status = {"hard": dict(hard), "used": shown}
        made = {**quota, "metadata": dict(quota["metadata"]), "status": status}
        self._writing = True
        try:
            self._core.commit(self._resource, made, quota)
        finally:
            self._writing = False


def _may_take_more(request: AdmissionRequest) -> bool:
    store, operation = request.resource.store, request.operation
    if store == "pods" and operation == "UPDATE":
        if request.subresource == "resize":
            return True
        terminating = {is_terminating(obj) for obj in (request.old_object, request.object) if obj is not None}
        return not request.subresource and len(terminating) > 1
    return not request.subresource and (operation == "CREATE" or (operation == "UPDATE" and store in _GROWING))


def _is_still_the_same(new: Object | None, old: Object | None) -> bool:
    """Whether a pod takes what it took: nearly all writes of pods are of their status alone."""
    if new is None or old is None:
        return False
    return new.get("spec") is old.get("spec") and is_charged(new) == is_charged(old)


def _hard(quota: Object) -> Mapping[str, str]:
    return (quota.get("spec") or {}).get("hard") or {}


def _status_hard(quota: Object) -> Mapping[str, str]:
    return (quota.get("status") or {}).get("hard") or {}


def _amounts(found: Mapping[str, str] | None) -> Amounts:
    return {name: parse_quantity(text) for name, text in (found or {}).items()}


def _exceeded(used: Amounts, asked: Amounts, hard: Amounts) -> list[str]:
    return sorted(name for name, amount in asked.items() if used.get(name, ZERO) + amount > hard[name])


def _words(asked: Amounts, used: Amounts, hard: Amounts) -> Iterable[tuple[str, Amounts]]:
    return ("requested", asked), ("used", used), ("limited", hard)


def _shown(amounts: Amounts, names: list[str]) -> str:
    return ",".join(f"{name}={amounts.get(name, ZERO)}" for name in names)


def _refusal(request: AdmissionRequest, why: str) -> ForbiddenError:
    return ForbiddenError.of(request.resource.plural, request.resource.group, request.name, why)
