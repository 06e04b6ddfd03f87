"""Creating and changing objects: the way from what a client sends to what is stored.

A creation: read, complete metadata, default, admit, validate, admit again, track managers, store. A change is the same
against the object that is there. Sections that a write leaves as they were are taken over from the old object without
another look, which is what makes status and label writes cheap, and what lets objects share their parts.
"""

from collections.abc import Callable
from typing import Any, Final

from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.patches.equality import same as equal
from mooring.kube.schemas import apply_defaults, prune
from mooring.kube.status import (
    AlreadyExistsError,
    BadRequestError,
    ConflictError,
    InvalidError,
    NotFoundError,
    UnknownError,
)
from mooring.registry.admission.chain import AdmissionChain, AdmissionRequest, ClusterView, Naming, request_of
from mooring.registry.changes import SYSTEM, is_finished, managed, merge, same, same_managers
from mooring.registry.checks import add_warnings, check_change, check_new
from mooring.registry.core import Core
from mooring.registry.managed_fields import FieldTracker
from mooring.registry.objects import copy_json
from mooring.registry.part_store import PartStore
from mooring.registry.request_body import (
    as_bad_request,
    blank,
    check_applied,
    check_fields,
    check_type,
    decoded,
    own_metadata,
    own_object,
)
from mooring.registry.resources import Resource
from mooring.registry.strategies import Strategy, no_errors
from mooring.registry.write_options import Options

__all__ = ["Writer"]


_NAME_ATTEMPTS: Final = 8


class Writer:
    """Creates and changes objects of every kind."""

    def __init__(self, core: Core, chain: AdmissionChain, view: ClusterView, *, managed_fields: bool = True) -> None:
        self._core = core
        self._chain = chain
        self._view = view
        self._parts = PartStore()
        self._tracker = FieldTracker(self._parts, managed_fields=managed_fields)

    @property
    def _naming(self) -> Naming:
        remote = self._chain.remote
        return self._core.identity if remote is None else remote.naming

    # Creating

    @as_bad_request
    def create(
        self, resource: Resource, obj: Any, namespace: str | None, options: Options, *, applied: bool = False
    ) -> Object:
        """Store a new object. `applied`: its managers are already in it."""
        core = self._core
        self._warn(resource, options)
        check_type(resource, obj)
        schema, strategy = core.schema(resource), core.strategy(resource)
        made = self._read(resource, strategy, obj)
        check_fields(resource, schema, obj, options)
        metadata = made["metadata"]
        _name_owners_once(metadata, options)
        version = metadata.get("resourceVersion", "")
        for name in (*SYSTEM, "selfLink"):
            # A kind that does not count its generations keeps what it is told.
            if name != "generation" or strategy.intent is not None:
                metadata.pop(name, None)
        self._place(resource, metadata, namespace)
        self._name(resource, metadata)
        metadata["uid"] = self._naming.uid()
        metadata["creationTimestamp"] = options.stamp
        if resource.custom:
            if resource.has_status:
                made.pop("status", None)
            made = apply_defaults(schema, made)
        strategy.default(made)
        if not applied:
            # Who creates an object manages what was sent and its defaults, not what admission makes of it.
            convert = core.converter(resource)
            made = self._tracker.track(resource, schema, None, made, options, "", convert)
        served, named, validate = resource, strategy, strategy.validate
        if not resource.custom and resource.api_version != resource.stored_as:
            # A built-in kind in its other shape: all other rules are about the stored one.
            made = core.to_stored(resource, made)
            resource = core.stored_resource(resource)
            strategy = core.strategy(resource)
            validate = strategy.validate if validate is no_errors else validate
        request = request_of("CREATE", resource, made, None, "", options)
        made = self._admit(request)
        self._prepare(resource, strategy, made, options)
        made = self._complete(request.about(made))
        metadata = made["metadata"]
        errors = [] if named.metadata_last else check_new(core, served, named, made, options.warnings)
        errors += validate(made)
        if named.metadata_last:
            errors = errors or check_new(core, served, named, made, options.warnings)
        if errors:
            raise InvalidError(resource.kind, resource.group, metadata["name"], errors)
        add_warnings(strategy, resource, made, options)
        if options.before_create is not None:
            options.before_create()
        self._validate(request.about(made), options)
        if core.find(resource, metadata.get("namespace", ""), metadata["name"]) is not None:
            raise AlreadyExistsError.of(resource.plural, resource.group, metadata["name"])
        if not options.dry_run and version.isdecimal() and int(version):
            # Storage has the last word, and reads nothing but numbers.
            raise UnknownError("resourceVersion should not be set on objects to be created")
        return core.load(served, self._store(resource, made, None, options))

    def _prepare(self, resource: Resource, strategy: Strategy, made: Object, options: Options) -> None:
        """What only the server sets, and only at creation."""
        options.warnings += strategy.warn_first(made)
        if strategy.intent is not None:
            made["metadata"] = {**made["metadata"], "generation": 1}
        if resource.has_status and not resource.custom and not strategy.keeps_status:
            made["status"] = blank(resource).get("status")
        strategy.prepare(made, options.stamp)

    def apply(
        self, resource: Resource, namespace: str, name: str, body: Any, options: Options, subresource: str
    ) -> Object:
        """Server-side apply; creates what is not there."""
        schema, convert = self._core.schema(resource), self._core.converter(resource)
        old = self._core.find(resource, namespace, name)
        if isinstance(body, dict):
            check_applied(resource, body)
        if old is not None:

            def make(current: Object) -> Object:
                made = self._tracker.apply(resource, schema, current, body, options, subresource, convert)
                check_fields(resource, schema, body, options)
                return made

            return self.change(resource, namespace, name, make, options, subresource, applied=True)
        if subresource:
            raise NotFoundError.of(resource.plural, resource.group, name)
        made = self._tracker.apply(resource, schema, None, body, options, "", convert)
        check_fields(resource, schema, body, options)
        metadata = made["metadata"]
        if metadata.get("uid"):
            why = f"uid mismatch: the provided object specified uid {metadata['uid']}, and no existing object was found"
            raise ConflictError.of(resource.plural, resource.group, name, why)
        if metadata.setdefault("name", name) != name:
            raise BadRequestError(
                f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})"
            )
        metadata.pop("resourceVersion", None)
        return self.create(resource, made, namespace if resource.namespaced else None, options, applied=True)

    def _warn(self, resource: Resource, options: Options) -> None:
        warning = self._core.deprecation(resource)
        if warning and warning not in options.warnings:
            options.warnings.append(warning)

    def _read(self, resource: Resource, strategy: Strategy, obj: Object) -> Object:
        if not resource.custom:
            made = decoded(resource, obj)
        else:
            made = own_object(resource, self._core.schema(resource), obj)
            made["metadata"] = own_metadata(resource, obj)
        made.pop("apiVersion", None)
        made.pop("kind", None)
        return {"apiVersion": resource.api_version, "kind": resource.kind, **made}

    def _place(self, resource: Resource, metadata: Object, namespace: str | None) -> None:
        """The namespace of the request and that of the object must agree; either may be left out."""
        given = metadata.get("namespace", "")
        if not resource.namespaced:
            metadata.pop("namespace", None)
            return
        wanted = namespace if namespace is not None else given or "default"
        if given and given != wanted:
            raise BadRequestError(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        metadata["namespace"] = wanted

    def _name(self, resource: Resource, metadata: Object) -> None:
        prefix = metadata.get("generateName", "")
        if resource.store == "limitranges" and not prefix and not metadata.get("name"):
            metadata["name"] = self._naming.uid()
        # Without a name it will be refused, but by rules that say all that is wrong with it.
        if metadata.setdefault("name", "") or not prefix:
            return
        namespace = metadata.get("namespace", "")
        for _ in range(_NAME_ATTEMPTS):
            metadata["name"] = self._naming.name(prefix)
            if self._core.find(resource, namespace, metadata["name"]) is None:
                return
        raise AlreadyExistsError(
            f"{resource.qualified} {go_quote(metadata['name'])} already exists, "
            "the server was not able to generate a unique name for the object"
        )

    # Changing

    @as_bad_request
    def change(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        make: Callable[[Object], Any],
        options: Options,
        subresource: str = "",
        *,
        applied: bool = False,
    ) -> Object:
        """Put what `make` makes of the object in its place. `applied`: managers are already in the result."""
        self._warn(resource, options)
        old = self._core.read(resource, namespace, name)
        current: Object = self._core.load(resource, old)
        given = make(current)
        check_type(resource, given)
        new = merge(self._core, resource, current, given, name, options, subresource)
        _name_owners_once(new["metadata"], options)
        strategy = self._core.strategy(resource)
        untouched = not applied and same(new, current) and managed(new) in (None, managed(current))
        if not applied and not untouched:
            schema, convert = self._core.schema(resource), self._core.converter(resource)
            new = self._tracker.track(resource, schema, current, new, options, subresource, convert)
        served, rules = resource, strategy
        if not resource.custom and resource.api_version != resource.stored_as:
            new, current = self._core.to_stored(resource, new), old
            resource = self._core.stored_resource(resource)
            strategy = self._core.strategy(resource)
            rules = strategy if rules.validate is no_errors else rules
        request = request_of("UPDATE", resource, new, current, subresource, options)
        new = self._admit(request)
        if subresource in ("status", "approval"):
            strategy.prepare_status(new, current, options.stamp)
        elif subresource != "finalize":
            strategy.prepare_update(new, current)
        new = self._complete(request.about(new))
        counted = strategy.intent if subresource != "status" else None
        if counted is not None and not equal(counted(new), counted(current)):
            new["metadata"] = {**new["metadata"], "generation": current["metadata"].get("generation", 0) + 1}
        errors = check_change(self._core, resource, rules, new, current, subresource, options.warnings)
        if errors:
            raise InvalidError(resource.kind, resource.group, name, errors)
        if subresource == "status":
            options.warnings += strategy.warn_status(new)
        else:
            add_warnings(strategy, resource, new, options, current)
        self._validate(request.about(new), options)
        if same(new, current) and (untouched or same_managers(new, current)):
            return self._core.load(served, current)
        return self._core.load(served, self._store(resource, new, old, options))

    # Admission

    def _admit(self, request: AdmissionRequest) -> Object:
        def complete(before: Object, changed: Object) -> Object:
            return self._default_again(request.resource, before, changed, request.subresource)

        return self._chain.mutate(request, self._view, complete)

    def _validate(self, request: AdmissionRequest, options: Options) -> None:
        self._chain.validate(request, self._view)
        if self._core.check_quota is not None:
            self._core.check_quota(request, options.stamp)

    def _complete(self, request: AdmissionRequest) -> Object:
        """Let the server hand out what is its to give: addresses, ports, the status of definitions."""
        for admit in self._chain.late:
            changed = admit(request, self._view)
            if changed is not None:
                request = request.about(changed)
        assert request.object is not None, "nothing is handed out to what is deleted"
        return request.object

    def _default_again(self, resource: Resource, obj: Object, changed: Object, subresource: str) -> Object:
        """What an admission function adds is as raw as what a client sends, and may no more be set."""
        strategy = self._core.strategy(resource)
        again = self._read(resource, strategy, changed)
        for key in ("name", "namespace", *SYSTEM):
            again["metadata"].pop(key, None)
            if key in obj["metadata"]:
                again["metadata"][key] = obj["metadata"][key]
        if subresource in ("status", "approval"):
            again = {**obj, "metadata": again["metadata"], "status": again.get("status")}
        elif resource.has_status or "status" not in again:
            again.pop("status", None)
            if "status" in obj:
                again["status"] = copy_json(obj["status"])
        if resource.custom:
            again = apply_defaults(self._core.schema(resource), again)
        strategy.default(again)
        return again

    def admit_delete(self, resource: Resource, old: Object, options: Options) -> None:
        """Let admission refuse a deletion."""
        self._chain.check_deletion(request_of("DELETE", resource, None, old, "", options), self._view)

    # Storing

    @as_bad_request
    def restore(self, resource: Resource, obj: Object, options: Options) -> Object:
        """Store an object with the metadata and status it has already. One that was never admitted is checked."""
        strategy = self._core.strategy(resource)
        made = self._read(resource, strategy, obj)
        metadata, status = made["metadata"], copy_json(obj.get("status"))
        self._place(resource, metadata, None)
        metadata.pop("resourceVersion", None)
        admitted = "uid" in metadata and "creationTimestamp" in metadata
        metadata.setdefault("uid", self._core.identity.uid())
        metadata.setdefault("creationTimestamp", options.stamp)
        if strategy.intent is not None:
            metadata.setdefault("generation", 1)
        if resource.custom:
            made = apply_defaults(self._core.schema(resource), made)
        strategy.default(made)
        if status is not None and not strategy.keeps_status:
            made["status"] = status
        if not admitted:
            made = self._complete(request_of("CREATE", resource, made, None, "", options))
            metadata = made["metadata"]
            errors = check_new(self._core, resource, strategy, made, options.warnings) + strategy.validate(made)
            if errors:
                raise InvalidError(resource.kind, resource.group, metadata.get("name", ""), errors)
        if self._core.find(resource, metadata.get("namespace", ""), metadata["name"]) is not None:
            raise AlreadyExistsError.of(resource.plural, resource.group, metadata["name"])
        return self._store(resource, made, None, options)

    def _store(self, resource: Resource, new: Object, old: Object | None, options: Options) -> Object:
        stored = self._core.to_stored(resource, new)
        if resource.custom and stored is not new:
            # Only what the stored version knows is kept, with its own defaults.
            schema = self._core.custom[resource.stored_as, resource.kind].schema
            known = apply_defaults(schema, prune(schema, {**stored, "metadata": {}}))
            stored = {**known, "metadata": stored["metadata"]}
        if old is not None and is_finished(stored):
            if not options.dry_run:
                self._core.remove(resource, old)
            return new
        if options.dry_run:
            if old is not None:
                new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
            return new
        if old is None:
            self._parts.share(stored)
        # Converted before it is stored: a conversion that fails must not leave a write that was told to have failed.
        shown = stored if stored is new else self._core.load(resource, stored)
        kept = self._core.commit(resource, stored, old)
        if shown is stored:
            return kept
        return {**shown, "metadata": {**shown["metadata"], "resourceVersion": kept["metadata"]["resourceVersion"]}}


def _name_owners_once(metadata: Object, options: Options) -> None:
    """Drop the owners that are named again."""
    owners = metadata.get("ownerReferences") or ()
    again = [index for index, owner in enumerate(owners) if owner in owners[:index]]
    if again:
        uids = ", ".join(owners[index]["uid"] for index in again)
        metadata["ownerReferences"] = [owner for index, owner in enumerate(owners) if index not in again]
        options.warnings.append(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may"
            f" reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
        )
