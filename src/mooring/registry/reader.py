"""What the registry answers without changing anything: the kinds it serves, objects, lists, watches, scales."""

from collections.abc import Callable, Generator, Sequence
from typing import TypedDict, Unpack

from mooring.kube.objects import Object
from mooring.kube.selectors import Selector
from mooring.kube.status import NotFoundError
from mooring.registry.admission.chain import Naming
from mooring.registry.core import Core
from mooring.registry.kinds.scale import ScalePaths, replicas_setter, to_scale
from mooring.registry.lists import (
    ListOptions,
    ListResult,
    check_watch_options,
    list_slices,
    matcher,
    parse_revision,
)
from mooring.registry.pods_by_node import PodsByNode
from mooring.registry.resources import Resource, Resources
from mooring.registry.slices import finish
from mooring.registry.storage import Storage
from mooring.registry.watch import Watch

__all__ = ["Reader"]


class WatchOptions(TypedDict, total=False):
    """What a watch is asked for with."""

    resource_version: str | None
    label_selector: str | Selector | None
    field_selector: str | None
    send_initial_events: bool | None
    resource_version_match: str | None
    # Called after every change of the store.
    wake: Callable[[], None] | None


class Reader:
    """Answers about what is served and stored. What is returned is shared with the store and must not be mutated."""

    def __init__(self, core: Core) -> None:
        self._core = core
        # Made at the first question: most registries are never asked.
        self._pods_by_node: PodsByNode | None = None

    # Kinds

    @property
    def resources(self) -> Resources:
        """The kinds served now."""
        return self._core.resources

    def resource(self, api_version: str, kind: str) -> Resource:
        """The table entry of a kind; NotFoundError when it is not served."""
        return self._core.resources.of_kind(api_version, kind)

    def deprecation(self, resource: Resource) -> str:
        """What readers of a kind are warned of; writers hear it among their warnings."""
        return self._core.deprecation(resource)

    @property
    def naming(self) -> Naming:
        """Who gives uids and generated names."""
        return self._core.identity

    @property
    def storage(self) -> Storage:
        """Where the objects are kept; read it, write through the registry."""
        return self._core.storage

    @property
    def revision(self) -> int:
        """The revision of the last change."""
        return self._core.storage.revision

    def convert(self, obj: Object, resource: Resource) -> Object:
        """An object of the same kind, in the version of `resource`."""
        return self._core.load(resource, obj)

    def scale_of(self, resource: Resource, obj: Object) -> Object:
        """The Scale that an object shows."""
        return to_scale(resource, obj, self.scale_paths(resource))

    def rescaled(self, resource: Resource, obj: Object, scale: Object) -> Object:
        """The object with the replicas of a Scale."""
        return replicas_setter(resource, scale, self.scale_paths(resource))(obj)

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """The object, or None: what admission functions read with."""
        resource = self._core.resources.find(api_version, kind)
        found = None if resource is None else self._core.find(resource, namespace, name)
        return None if found is None or resource is None else self._core.load(resource, found)

    def has(self, resource: Resource, namespace: str, name: str, *, uid: str | None = None) -> bool:
        """Whether there is such an object, and with a uid: whether it is still that one."""
        found = self._core.find(resource, namespace, name)
        return found is not None and uid in (None, found["metadata"]["uid"])

    def count(self, resource: Resource) -> int:
        """How many objects of a kind are stored."""
        return self._core.storage.count_after(resource.store, None, "")

    def all(self, api_version: str, kind: str, namespace: str | None = None) -> Sequence[Object]:
        """Every object of a kind, or of one namespace."""
        resource = self.resource(api_version, kind)
        items = self._core.storage.items(resource.store, namespace if resource.namespaced else None)
        load = self._core.loader(resource)
        return items if load is None else [load(item) for item in items]

    def pods_on(self, node: str) -> list[Object]:
        """The pods that are bound to a node."""
        if self._pods_by_node is None:
            self._pods_by_node = PodsByNode(self._core)
        return self._pods_by_node.on(node)

    # Reading

    def get(self, resource: Resource, namespace: str, name: str, *, subresource: str = "") -> Object:
        found = self._core.load(resource, self._core.read(resource, namespace, name))
        return to_scale(resource, found, self.scale_paths(resource)) if subresource == "scale" else found

    def scale_paths(self, resource: Resource) -> ScalePaths | None:
        """Where a custom kind keeps what its Scale shows; None for a built-in one, whose places are known."""
        if "scale" not in resource.subresources:
            raise NotFoundError("the server could not find the requested resource")
        return self._core.custom[resource.api_version, resource.kind].scale if resource.custom else None

    def list(self, resource: Resource, namespace: str | None = None, **options: Unpack[ListOptions]) -> ListResult:
        return finish(list_slices(self._core, resource, namespace, options))

    def list_slices(
        self, resource: Resource, namespace: str | None = None, **options: Unpack[ListOptions]
    ) -> Generator[None, None, ListResult]:
        """The same for a server that serves others in between: it yields where that is possible."""
        return list_slices(self._core, resource, namespace, options)

    def watch(self, resource: Resource, namespace: str | None = None, **options: Unpack[WatchOptions]) -> Watch:
        return finish(self.watch_slices(resource, namespace, **options))

    def watch_slices(
        self, resource: Resource, namespace: str | None = None, **options: Unpack[WatchOptions]
    ) -> Generator[None, None, Watch]:
        """The same for a server that serves others in between. What exists is that of the moment in which it began, and
        what is written meanwhile comes after it."""
        send_initial_events = options.get("send_initial_events")
        check_watch_options(send_initial_events, options.get("resource_version_match"))
        matches, _ = matcher(self._core, resource, options.get("label_selector"), options.get("field_selector"))
        history = self._core.history(resource.store)
        wanted, now = parse_revision(options.get("resource_version")), self._core.storage.revision
        whole = send_initial_events or (send_initial_events is None and wanted == 0)
        begin = now if whole or wanted == 0 else wanted
        watch = Watch(
            history,
            history.position(begin),
            begin,
            namespace=namespace if resource.namespaced else None,
            matches=matches,
            convert=self._core.loader(resource),
            current=lambda: self._core.storage.revision,
            api_version=resource.api_version,
            kind=resource.kind,
        )
        if whole:
            found = yield from self.list_slices(
                resource,
                namespace,
                label_selector=options.get("label_selector"),
                field_selector=options.get("field_selector"),
            )
            watch.begin_with(found.items, marked=bool(send_initial_events))
        if (wake := options.get("wake")) is not None:
            watch.on_change(wake)
        return watch
