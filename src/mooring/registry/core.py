"""The state behind all verbs: storage, histories, the kinds served, and the one place where a change is committed.

Every change takes the next revision, becomes the object's resourceVersion, and is recorded for watches. Nothing else
writes to the storage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from mooring.api.core.warnings import DEPRECATED
from mooring.kube.apply import Convert as ApplyConvert
from mooring.kube.objects import Object
from mooring.kube.schemas import Schema, apply_defaults, builtin_schema, prune
from mooring.kube.status import NotFoundError
from mooring.registry.history import History, HistoryEntry
from mooring.registry.history_budget import HistoryBudget
from mooring.registry.objects import Identity
from mooring.registry.resources import Resource, Resources, builtin_resources
from mooring.registry.rules import STRATEGIES
from mooring.registry.storage import Storage
from mooring.registry.strategies import Strategy

if TYPE_CHECKING:
    from mooring.kube.cel.rules.evaluation import Findings
    from mooring.registry.admission.chain import AdmissionRequest

__all__ = ["CheckRules", "Convert", "Core", "CustomKind"]

# Takes an object and the apiVersion wanted; gives a new object.
Convert = Callable[[Object, str], Object]
# Takes the schema of a custom kind, an object, and the one in whose place it comes.
CheckRules = Callable[[Schema, Object, Object | None], "Findings"]

_PLAIN = Strategy()


class CustomKind:
    """What a CustomResourceDefinition says about one version of its kind, beside the names.

    `compiled` makes its schema, when that is first asked for: a server starts with many kinds and is asked about few.
    """

    __slots__ = ("_compiled", "_schema", "convert", "revision", "scale", "selectable", "strategy", "warning")

    def __init__(
        self,
        compiled: Callable[[], Schema],
        strategy: Strategy,
        convert: Convert,
        scale: dict[str, str] | None,
        selectable: tuple[str, ...],
        warning: str,
        revision: int,
    ) -> None:
        self._compiled = compiled
        self._schema: Schema | None = None
        self.strategy = strategy
        self.convert = convert
        self.scale = scale
        self.selectable = selectable
        # Said on every request that uses a deprecated version.
        self.warning = warning
        # Of the definition: what was stored before it may lack what is a default by now.
        self.revision = revision

    @property
    def schema(self) -> Schema:
        if self._schema is None:
            self._schema = self._compiled()
        return self._schema


class Core:
    """See the module. `history_limit` is how many changes per store are kept at most, `history_bytes` how much memory
    the histories of all stores may hold; None where nobody floods them.
    """

    def __init__(
        self, storage: Storage, *, history_limit: int, history_bytes: int | None = None, seed: int | None
    ) -> None:
        self.storage = storage
        self.resources = Resources(builtin_resources())
        self.identity = Identity(seed)
        self.custom: dict[tuple[str, str], CustomKind] = {}
        self.converts: dict[str, Convert] = {}
        # Called with the new and the old object after a change of their store, before watchers hear of it.
        self.hooks: dict[str, Callable[[Object | None, Object | None], None]] = {}
        # Called with the new object after a change of its store is recorded; None when it is gone.
        self.after: dict[str, Callable[[Object | None], None]] = {}
        # Called with the store and every change after it is recorded, once there are quotas; and with a write that
        # admission has let pass and its time, to refuse what would exceed one.
        self.on_change: Callable[[str, HistoryEntry], None] | None = None
        self.check_quota: Callable[[AdmissionRequest, str], None] | None = None
        # Called with the store after an object of a custom kind is gone.
        self.on_custom_removal: Callable[[str], None] | None = None
        # What the rules in CEL of a custom kind say of an object.
        self.check_rules: CheckRules = _check_rules
        self._history_limit = history_limit
        self._history_budget = None if history_bytes is None else HistoryBudget(history_bytes)
        self._histories: dict[str, History] = {}
        self._schemas: dict[tuple[str, str], Schema] = {}
        # What was written before this process is not in any history.
        self._start = storage.revision

    def strategy(self, resource: Resource) -> Strategy:
        if resource.custom:
            return self.custom[resource.api_version, resource.kind].strategy
        if resource.api_version != resource.stored_as:
            found = STRATEGIES.get(f"{resource.store}@{resource.api_version}")
            if found is not None:
                return found
        return STRATEGIES.get(resource.store, _PLAIN)

    def schema(self, resource: Resource) -> Schema:
        if resource.custom:
            return self.custom[resource.api_version, resource.kind].schema
        key = resource.api_version, resource.kind
        found = self._schemas.get(key)
        if found is None:
            found = self._schemas[key] = builtin_schema(*key)
        return found

    def deprecation(self, resource: Resource) -> str:
        """The deprecation warning of a kind or version; empty for others."""
        if resource.custom:
            return self.custom[resource.api_version, resource.kind].warning
        return DEPRECATED.get(resource.store, "")

    def history(self, store: str) -> History:
        found = self._histories.get(store)
        if found is None:
            found = self._histories[store] = History(self._start, self._history_limit, self._history_budget)
        return found

    def compact(self, revision: int) -> None:
        """Drop the history up to a revision in every store."""
        self._start = max(self._start, revision)
        for history in self._histories.values():
            history.compact(revision)

    # Versions

    def load(self, resource: Resource, obj: Object) -> Object:
        """A stored object in the version asked for, with what that version knows."""
        if resource.custom:
            obj = self._complete(resource, obj)
        if obj["apiVersion"] == resource.api_version:
            return obj
        made = self._convert(resource, obj, resource.api_version)
        if not resource.custom:
            return made
        schema = self.schema(resource)
        return {**apply_defaults(schema, prune(schema, {**made, "metadata": {}})), "metadata": made["metadata"]}

    def _complete(self, resource: Resource, obj: Object) -> Object:
        """A stored object with the defaults that its definition has got since."""
        kind = self.custom[resource.stored_as, resource.kind]
        version = obj["metadata"].get("resourceVersion")
        if not kind.schema.fills or not version or int(version) > kind.revision:
            return obj
        return cast(Object, apply_defaults(kind.schema, obj))

    def loader(self, resource: Resource) -> Callable[[Object], Object] | None:
        """What turns stored objects into the version asked for; None when there is nothing to turn."""
        if resource.api_version == resource.stored_as and not resource.custom:
            return None
        return lambda obj: self.load(resource, obj)

    def to_stored(self, resource: Resource, obj: Object) -> Object:
        if resource.api_version == resource.stored_as:
            return obj
        return self._convert(resource, obj, resource.stored_as)

    def _convert(self, resource: Resource, obj: Object, wanted: str) -> Object:
        if resource.custom:
            return self.custom[resource.api_version, resource.kind].convert(obj, wanted)
        return self.converts[resource.store](obj, wanted)

    def converter(self, resource: Resource) -> ApplyConvert | None:
        """What turns objects of one version into another for the sake of managers; None when there is one version."""
        if not resource.custom:
            return self._builtin_converter(resource)

        def convert(obj: Object, version: str) -> tuple[Object, Schema] | None:
            kind = self.custom.get((version, resource.kind))
            return None if kind is None else (kind.convert(obj, version) if obj else obj, kind.schema)

        return convert

    def _builtin_converter(self, resource: Resource) -> ApplyConvert | None:
        function = self.converts.get(resource.store)
        if function is None:
            return None

        def convert(obj: Object, version: str) -> tuple[Object, Schema] | None:
            served = self.resources.find(version, resource.kind)
            if served is None or served.store != resource.store:
                return None
            return function(obj, version) if "metadata" in obj else obj, self.schema(served)

        return convert

    def stored_resource(self, resource: Resource) -> Resource:
        """The version of a kind in which it is stored."""
        if resource.api_version == resource.stored_as:
            return resource
        return self.resources.find(resource.stored_as, resource.kind) or resource

    # Reading

    def find(self, resource: Resource, namespace: str, name: str) -> Object | None:
        return self.storage.get(resource.store, namespace if resource.namespaced else "", name)

    def read(self, resource: Resource, namespace: str, name: str) -> Object:
        """The stored object, or 404."""
        found = self.storage.get(resource.store, namespace if resource.namespaced else "", name)
        if found is None:
            raise NotFoundError.of(resource.plural, resource.group, name)
        return found

    # Writing

    def commit(self, resource: Resource, obj: Object, old: Object | None) -> Object:
        """Store an object that belongs to the registry; its metadata dict is written to."""
        revision = self.storage.revision + 1
        metadata = obj["metadata"]
        metadata["resourceVersion"] = str(revision)
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        self.storage.put(resource.store, namespace, name, obj, revision)
        self._changed(resource.store, HistoryEntry(revision, namespace, name, obj, old))
        return obj

    def remove(self, resource: Resource, old: Object) -> Object:
        """Take an object out of the storage; what is returned carries the revision of its removal."""
        revision = self.storage.revision + 1
        metadata = old["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        self.storage.remove(resource.store, namespace, name, revision)
        self._changed(resource.store, HistoryEntry(revision, namespace, name, None, old))
        if resource.custom and self.on_custom_removal is not None:
            self.on_custom_removal(resource.store)
        return {**old, "metadata": {**metadata, "resourceVersion": str(revision)}}

    def _changed(self, store: str, change: HistoryEntry) -> None:
        # The first quota brings its tracker, which has counted it then.
        on_change = self.on_change
        hook = self.hooks.get(store)
        if hook is not None:
            hook(change.object, change.previous)
        self.history(store).record(change)
        after = self.after.get(store)
        if after is not None:
            after(change.object)
        if on_change is not None:
            on_change(store, change)


def _check_rules(schema: Schema, new: Object, old: Object | None) -> Findings:
    # Few kinds have rules, and nobody else waits for what evaluates them.
    from mooring.kube.cel.rules.evaluation import check_rules

    return check_rules(schema, new, old)
