"""The registry: every verb of the API on every served kind, without I/O and without a clock.

One writer at a time; calls do not interleave. What is returned is shared with the store and must not be mutated:
change an object by building a new one around the parts that stay.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Unpack

from mooring.api.autoscaling.conversion import convert_autoscaler
from mooring.kube.objects import Object
from mooring.kube.schemas import builtin_schema
from mooring.kube.selectors import Selector
from mooring.kube.status import AlreadyExistsError, BadRequestError, MethodNotAllowedError, NotFoundError
from mooring.registry.admission.builtin import BUILTIN_ADMISSION, BUILTIN_VALIDATION, LATE_ADMISSION
from mooring.registry.admission.chain import AdmissionChain, request_of
from mooring.registry.admission.node_restriction import node_restriction
from mooring.registry.admission.protection import Protection
from mooring.registry.bootstrap import bootstrap, create_system_objects
from mooring.registry.core import CheckRules, Convert, Core
from mooring.registry.deletion import Propagation, check_preconditions, delete
from mooring.registry.kinds.definition_cleanup import cleanup_slices, unfinished
from mooring.registry.kinds.definitions import DEFINITIONS, CustomResourceDefinitions, RemoteConvert
from mooring.registry.kinds.event_conversion import convert_event
from mooring.registry.kinds.event_ttl import delete_events, expire_events
from mooring.registry.kinds.pods import bind, check_eviction, disrupted
from mooring.registry.kinds.scale import replicas_setter, to_scale
from mooring.registry.kinds.token_secrets import Issue
from mooring.registry.patches import PatchType, as_patch_error, check_patch_options, patcher
from mooring.registry.reader import Reader
from mooring.registry.request_body import UnknownFieldsError, UnreadableError, WrongTypeError
from mooring.registry.resources import Resource
from mooring.registry.slices import finish
from mooring.registry.storage import MemoryStorage, Storage
from mooring.registry.write_options import Options, Sent
from mooring.registry.writer import Writer

__all__ = ["Registry"]

Warnings = list[str]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Registry(Reader):
    """See the module. `seed` makes uids and generated names repeatable. `history_limit` is how many changes of a kind
    are kept for watches at most, `history_bytes` how much memory those of all kinds may take.

    A write may name the `groups` of its user, and the `duplicate_fields` of its body, which only the parser
    of the body can find. `before_create` is called before an update or an apply creates its object, and may refuse it.

    Without `managed_fields`, creations, updates and patches leave no entries in metadata.managedFields, which saves an
    eighth of the time where managed fields are not needed.
    """

    def __init__(
        self,
        storage: Storage | None = None,
        *,
        now: datetime = _EPOCH,
        seed: int | None = None,
        history_limit: int = 20_000,
        history_bytes: int | None = None,
        managed_fields: bool = True,
    ) -> None:
        super().__init__(
            Core(storage or MemoryStorage(), history_limit=history_limit, history_bytes=history_bytes, seed=seed)
        )
        self._chain = AdmissionChain(
            builtin=list(BUILTIN_ADMISSION),
            late=list(LATE_ADMISSION),
            builtin_validating=list(BUILTIN_VALIDATION),
        )
        self._writer = Writer(self._core, self._chain, self, managed_fields=managed_fields)
        self._definitions = CustomResourceDefinitions(self._core)
        self._in_background: Callable[[Callable[[], Generator[None, None, None]]], None] = lambda make: finish(make())
        self._core.hooks[DEFINITIONS] = self._definitions.changed
        self._core.hooks["namespaces"] = self._namespace_changed
        self._core.on_custom_removal = self._definitions.finish
        self._core.converts["events"] = convert_event
        self._core.converts["horizontalpodautoscalers.autoscaling"] = convert_autoscaler
        Protection(self._core)
        self._core.after["resourcequotas"] = self._first_quota
        if self._core.storage.items("resourcequotas"):
            self._first_quota(None)
        create_system_objects(self, self._core, now=now)

    def _first_quota(self, quota: Object | None) -> None:
        """Quotas are followed from the first one on; most clusters have none."""
        from mooring.registry.quota.tracker import QuotaTracker

        del self._core.after["resourcequotas"]
        QuotaTracker(self._core)

    def bootstrap(
        self,
        *,
        now: datetime,
        host: str,
        port: int,
        authority: str = "",
        front_proxy: str = "",
        issue: Issue | None = None,
    ) -> None:
        """Create what a served cluster needs: a ServiceAccount in every namespace, and the Service of the API.

        `host` and `port` are the address of the API, `authority` is the PEM of the one that vouches for it,
        `front_proxy` that of the one by which servers behind it know it, `issue` makes tokens for Secrets. Called
        once, by the server of the registry.
        """
        bootstrap(
            self,
            self._core,
            now=now,
            host=host,
            port=port,
            authority=authority,
            front_proxy=front_proxy,
            issue=issue,
        )

    # Settings

    def compact(self, revision: int) -> None:
        """Drop the history up to a revision; watches and lists from before it get 410."""
        self._core.compact(revision)

    def register_conversion(self, group: str, kind: str, convert: Convert) -> None:
        """The function that stands for a custom kind's conversion webhook: `convert(object, apiVersion) -> object`."""
        self._definitions.conversions[group, kind] = convert

    def register_remote_conversion(self, convert: RemoteConvert) -> None:
        """The converter of custom kinds that have a conversion webhook and no registered function."""
        self._definitions.remote_conversion = convert

    def register_rule_check(self, check: CheckRules) -> None:
        """What evaluates the rules in CEL of custom kinds, in the place of the registry's own evaluation."""
        self._core.check_rules = check

    def register_background(self, run: Callable[[Callable[[], Generator[None, None, None]]], None]) -> None:
        """Who does long work that no request waits for, in slices; otherwise it is done at once."""
        self._in_background = run

    @property
    def admission(self) -> AdmissionChain:
        """The admission functions in force; append to `mutating` and `validating`."""
        return self._chain

    # Writing

    def create(
        self,
        resource: Resource,
        obj: Mapping[str, Any],
        *,
        namespace: str | None = None,
        **sent: Unpack[Sent],
    ) -> Object:
        return self._writer.create(resource, obj, namespace, Options(**sent))

    def update(
        self,
        resource: Resource,
        obj: Mapping[str, Any],
        *,
        subresource: str = "",
        before_create: Callable[[], None] | None = None,
        **sent: Unpack[Sent],
    ) -> Object:
        options = Options(**sent, replaces=True, before_create=before_create)
        metadata = obj.get("metadata") if isinstance(obj, dict) else None
        if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
            raise BadRequestError("metadata.name: name must be provided")
        name, namespace = metadata["name"], metadata.get("namespace") or "default"
        if not isinstance(namespace, str):
            raise BadRequestError("metadata.namespace: must be a string")
        self._check_subresource(resource, subresource)
        if subresource == "scale":
            return self._rescale(resource, namespace, name, lambda _: obj, options)
        creates = not subresource and self._core.strategy(resource).create_on_update
        if creates and self._core.find(resource, namespace, name) is None:
            return self._writer.create(resource, obj, namespace, options)
        return self._writer.change(resource, namespace, name, lambda _: obj, options, subresource)

    def _check_subresource(self, resource: Resource, subresource: str) -> None:
        if subresource and subresource not in resource.subresources:
            raise NotFoundError("the server could not find the requested resource")

    def _rescale(
        self, resource: Resource, namespace: str, name: str, make: Callable[[Object], Any], options: Options
    ) -> Object:
        paths = self.scale_paths(resource)
        scale = make(self.get(resource, namespace, name, subresource="scale"))
        change = replicas_setter(resource, scale, paths)
        changed = self._writer.change(resource, namespace, name, change, options, "scale")
        return to_scale(resource, changed, paths)

    def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        patch_type: PatchType,
        body: Any,
        *,
        subresource: str = "",
        force: bool = False,
        before_create: Callable[[], None] | None = None,
        **sent: Unpack[Sent],
    ) -> Object:
        options = Options(**sent, force=force, before_create=before_create)
        self._check_subresource(resource, subresource)
        check_patch_options(patch_type, force)
        scales = subresource == "scale" and patch_type != "apply"
        schema = builtin_schema("autoscaling/v1", "Scale") if scales else self._core.schema(resource)
        make = patcher(resource, schema, patch_type, body) if patch_type != "apply" else None
        try:
            if make is None:
                return self._writer.apply(resource, namespace, name, body, options, subresource)
            if scales:
                return self._rescale(resource, namespace, name, make, options)
            return self._writer.change(resource, namespace, name, make, options, subresource)
        except (UnreadableError, UnknownFieldsError, WrongTypeError) as error:
            raise as_patch_error(resource, patch_type, body, error) from None

    def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        now: datetime,
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: Propagation | None = None,
        grace: int | None = None,
        dry_run: bool = False,
        user: str = "",
        groups: Sequence[str] = (),
        warnings: Warnings | None = None,
    ) -> Object:
        told = [] if warnings is None else warnings
        options = Options(now, dry_run=dry_run, user=user, groups=tuple(groups), warnings=told)
        old = self._core.read(resource, namespace, name)
        # Converted first: what cannot be shown must not be gone when that is found out.
        self._core.load(resource, old)
        self._writer.admit_delete(resource, old, options)
        gone = delete(
            self._core,
            resource,
            old,
            options,
            uid=uid,
            resource_version=resource_version,
            propagation=propagation,
            grace=grace,
        )
        if resource.store == DEFINITIONS and not dry_run and "deletionTimestamp" not in old["metadata"]:
            self._clean_up(name, now)
        return self._core.load(resource, gone)

    def _clean_up(self, name: str, now: datetime) -> None:
        """The objects of a deleted definition go with it."""
        self._in_background(lambda: cleanup_slices(self._core, self._definitions, name, now))

    def resume(self, now: datetime) -> None:
        """Go on with what an earlier process was about to do when it ended."""
        for name in unfinished(self._core):
            self._clean_up(name, now)

    def delete_collection(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        now: datetime,
        label_selector: str | Selector | None = None,
        field_selector: str | None = None,
        propagation: Propagation | None = None,
        grace: int | None = None,
        dry_run: bool = False,
        user: str = "",
        groups: Sequence[str] = (),
    ) -> Sequence[Object]:
        """Delete what the selectors select; returns what each object is, or was, afterwards."""
        if "deletecollection" not in resource.verbs:
            raise MethodNotAllowedError.of(resource.plural, resource.group, "deletecollection")
        chosen = self.list(resource, namespace, label_selector=label_selector, field_selector=field_selector).items
        return [
            self.delete(
                resource,
                obj["metadata"].get("namespace", ""),
                obj["metadata"]["name"],
                now=now,
                propagation=propagation,
                grace=grace,
                dry_run=dry_run,
                user=user,
                groups=groups,
            )
            for obj in chosen
        ]

    def _namespace_changed(self, new: Object | None, old: Object | None) -> None:
        if new is None and old is not None:
            delete_events(self._core, self.resource("v1", "Event"), old["metadata"]["name"])

    def expire_events(self, now: datetime) -> int:
        """Delete events that are an hour old. Called about once a minute by the owner of the clock."""
        return expire_events(self._core, self.resource("v1", "Event"), now)

    def bind(self, binding: Mapping[str, Any], *, now: datetime, dry_run: bool = False, user: str = "") -> Object:
        """Assign a pod to a node, once; returns the pod."""
        options = Options(now, dry_run=dry_run, user=user)
        pods, nodes = self.resource("v1", "Pod"), self.resource("v1", "Node")
        return bind(self._core, pods, nodes, dict(binding), options)

    def evict(
        self,
        namespace: str,
        name: str,
        *,
        now: datetime,
        uid: str | None = None,
        resource_version: str | None = None,
        grace: int | None = None,
        propagation: Propagation | None = None,
        dry_run: bool = False,
        user: str = "",
        groups: Sequence[str] = (),
    ) -> Object:
        """Delete a pod if its disruption budget allows it; 429 otherwise."""
        options = Options(now, dry_run=dry_run, user=user, groups=tuple(groups))
        pods, budgets = self.resource("v1", "Pod"), self.resource("policy/v1", "PodDisruptionBudget")
        # Of the built-in functions only this one knows evictions; webhooks were asked before.
        eviction = {"metadata": {"namespace": namespace, "name": name}}
        node_restriction(request_of("CREATE", pods, eviction, None, "eviction", options), self)
        pod = self._core.read(pods, namespace, name)
        check_preconditions(pods, pod["metadata"], uid, resource_version)
        check_eviction(self._core, budgets, pod, options)
        if not dry_run:
            self._writer.change(pods, namespace, name, lambda current: disrupted(current, options), options, "status")
        return self.delete(
            pods,
            namespace,
            name,
            now=now,
            uid=uid,
            grace=grace,
            propagation=propagation,
            dry_run=dry_run,
            user=user,
            groups=groups,
        )

    def adopt(self, obj: Object) -> Object:
        """Store an object just as another API server returned it: complete, checked, and the registry's own from now.

        Nothing is looked at, which is what makes a cluster of fifty thousand pods a matter of seconds.
        """
        resource = self.resource(str(obj.get("apiVersion")), str(obj.get("kind")))
        metadata = obj["metadata"]
        if self._core.find(resource, metadata.get("namespace", ""), metadata["name"]) is not None:
            raise AlreadyExistsError.of(resource.plural, resource.group, metadata["name"])
        return self._core.commit(resource, obj, None)

    def restore(self, obj: Mapping[str, Any], *, now: datetime) -> Object:
        """Store an object as another cluster had it: its own uid, times and status, without admission.

        It is decoded and defaulted. What has a uid and a creation time was admitted where it came from, by rules that
        may differ from ours, and is not checked again; what a person wrote is.
        """
        resource = self.resource(str(obj.get("apiVersion")), str(obj.get("kind")))
        return self._writer.restore(resource, dict(obj), Options(now, manager="restore"))
