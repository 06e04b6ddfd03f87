"""Creating and changing objects: the way from what a client sends to what is stored.

A creation: read, complete metadata, default, admit, validate, admit again, track managers, store. A change is the same
against the object that is there. Sections that a write leaves as they were are taken over from the old object without
another look, which is what makes status and label writes cheap, and what lets objects share their parts.
"""

from collections.abc import Callable
from typing import Any, Final

from mooring.api.core.validation_meta import check_metadata
from mooring.kube.errors import FieldError, forbidden, go_quote
from mooring.kube.schemas import apply_defaults, validate
from mooring.kube.status import (
    AlreadyExistsError,
    BadRequestError,
    ConflictError,
    InternalError,
    InvalidError,
    NotFoundError,
)
from mooring.registry.admission import AdmissionRequest, Chain, ClusterView, Operation
from mooring.registry.changes import SYSTEM, is_finished, merge, same, same_managers, shares_body
from mooring.registry.core import Core
from mooring.registry.managers import FieldTracker
from mooring.registry.objects import copy_json
from mooring.registry.reading import check_fields, check_type, decoded, in_words, own_metadata, own_object
from mooring.registry.requests import Options
from mooring.registry.resources import Resource
from mooring.registry.sharing import PartStore
from mooring.registry.strategies import Strategy

__all__ = ["Writer"]

Object = dict[str, Any]

_NAME_ATTEMPTS: Final = 8


class Writer:
    """Creates and changes objects of every kind."""

    def __init__(self, core: Core, chain: Chain, view: ClusterView) -> None:
        self._core = core
        self._chain = chain
        self._view = view
        self._parts = PartStore()
        self._tracker = FieldTracker(self._parts)

    # Creating

    @in_words
    def create(
        self, resource: Resource, obj: Any, namespace: str | None, options: Options, *, applied: bool = False
    ) -> Object:
        """Store a new object. `applied`: its managers are already in it."""
        core = self._core
        check_type(resource, obj)
        schema, strategy = core.schema(resource), core.strategy(resource)
        check_fields(resource, schema, obj, options)
        self._warn(resource, options)
        if not resource.custom and resource.api_version != resource.stored_as:
            # A built-in kind in its other shape: all rules are about the stored one.
            stored = core.stored_resource(resource)
            made = self.create(stored, core.to_stored(resource, dict(obj)), namespace, options)
            return core.load(resource, made)
        made = self._read(resource, strategy, obj)
        metadata = made["metadata"]
        if metadata.get("resourceVersion"):
            raise InternalError("resourceVersion should not be set on objects to be created")
        for name in (*SYSTEM, "selfLink"):
            metadata.pop(name, None)
        self._place(resource, metadata, namespace)
        self._name(resource, metadata)
        if strategy.intent is not None:
            metadata["generation"] = 1
        if resource.has_status and not strategy.keeps_status:
            made.pop("status", None)
        if resource.custom:
            made = apply_defaults(schema, made)
        metadata["uid"] = core.identity.uid()
        metadata["creationTimestamp"] = options.stamp
        strategy.default(made)
        strategy.prepare(made, options.stamp)
        made = self._admit("CREATE", resource, made, None, "", options)
        errors = self._check(resource, strategy, made)
        errors += strategy.validate(made)
        if errors:
            raise InvalidError(resource.kind, resource.group, metadata["name"], errors)
        self._admit_finally("CREATE", resource, made, None, "", options)
        if core.find(resource, metadata.get("namespace", ""), metadata["name"]) is not None:
            raise AlreadyExistsError.of(resource.plural, resource.group, metadata["name"])
        if not applied:
            convert = core.converter(resource)
            made = self._tracker.track(resource, schema, None, made, options, "", convert)
        return self._store(resource, made, None, options)

    def apply(
        self, resource: Resource, namespace: str, name: str, body: Any, options: Options, subresource: str
    ) -> Object:
        """Server-side apply; creates what is not there."""
        schema, convert = self._core.schema(resource), self._core.converter(resource)
        old = self._core.find(resource, namespace, name)
        if isinstance(body, dict):
            check_fields(resource, schema, body, options)
        if old is not None:

            def make(current: Object) -> Object:
                return self._tracker.apply(resource, schema, current, body, options, subresource, convert)

            return self.change(resource, namespace, name, make, options, subresource, applied=True)
        if subresource:
            raise NotFoundError.of(resource.plural, resource.group, name)
        made = self._tracker.apply(resource, schema, None, body, options, "", convert)
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
        warning = self._core.custom[resource.api_version, resource.kind].warning if resource.custom else ""
        if warning and warning not in options.warnings:
            options.warnings.append(warning)

    def _read(self, resource: Resource, strategy: Strategy, obj: Object) -> Object:
        if strategy.shape:
            made = decoded(resource, strategy.shape, obj)
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
            if given:
                raise BadRequestError("namespace may not be set on cluster-scoped objects: remove metadata.namespace")
            return
        wanted = namespace if namespace is not None else given or "default"
        if given and given != wanted:
            raise BadRequestError(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        metadata["namespace"] = wanted

    def _name(self, resource: Resource, metadata: Object) -> None:
        prefix = metadata.get("generateName", "")
        # Without a name it will be refused, but by rules that say all that is wrong with it.
        if metadata.setdefault("name", "") or not prefix:
            return
        namespace = metadata.get("namespace", "")
        for _ in range(_NAME_ATTEMPTS):
            metadata["name"] = self._core.identity.name(prefix)
            if self._core.find(resource, namespace, metadata["name"]) is None:
                return
        raise AlreadyExistsError(
            f"{resource.qualified} {go_quote(metadata['name'])} already exists, "
            "the server was not able to generate a unique name for the object"
        )

    # Changing

    @in_words
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
        if not resource.custom and resource.api_version != resource.stored_as:
            return self._change_foreign(resource, namespace, name, make, options, subresource)
        old = self._core.read(resource, namespace, name)
        current: Object = self._core.load(resource, old)
        self._warn(resource, options)
        given = make(current)
        nothing_new = given is current
        if nothing_new:
            return current
        check_type(resource, given)
        new = merge(self._core, resource, current, given, name, options, subresource)
        strategy = self._core.strategy(resource)
        if strategy.intent is not None and strategy.intent(new) != strategy.intent(current):
            new["metadata"]["generation"] = current["metadata"].get("generation", 0) + 1
        new = self._admit("UPDATE", resource, new, current, subresource, options)
        errors = self._check_change(resource, strategy, new, current, subresource)
        if errors:
            raise InvalidError(resource.kind, resource.group, name, errors)
        self._admit_finally("UPDATE", resource, new, current, subresource, options)
        if not applied:
            managers = new["metadata"].get("managedFields")
            if same(new, current) and managers in (None, current["metadata"].get("managedFields")):
                return current
            schema, convert = self._core.schema(resource), self._core.converter(resource)
            new = self._tracker.track(resource, schema, current, new, options, subresource, convert)
        elif same(new, current) and same_managers(new, current):
            return current
        return self._store(resource, new, old, options)

    def _change_foreign(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        make: Callable[[Object], Any],
        options: Options,
        subresource: str,
    ) -> Object:
        core = self._core

        def make_stored(current: Object) -> Any:
            given = make(core.load(resource, current))
            check_type(resource, given)
            return core.to_stored(resource, given)

        stored = core.stored_resource(resource)
        return core.load(resource, self.change(stored, namespace, name, make_stored, options, subresource))

    # Checking

    def _check(self, resource: Resource, strategy: Strategy, obj: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        if not strategy.checks_metadata:
            self._check_metadata(errors, resource, obj["metadata"], strategy.name_texts)
        if resource.custom:
            errors += validate(self._core.schema(resource), {**obj, "metadata": {}})
        return errors

    def _check_metadata(
        self,
        errors: list[FieldError],
        resource: Resource,
        metadata: Object,
        name_texts: Callable[[str, bool], list[str]],
    ) -> None:
        builtin = not resource.custom and resource.group != "apiextensions.k8s.io"
        check_metadata(errors, metadata, name_texts, namespaced=resource.namespaced, builtin=builtin)

    def _check_change(
        self, resource: Resource, strategy: Strategy, new: Object, current: Object, subresource: str
    ) -> list[FieldError]:
        errors: list[FieldError] = []
        metadata, was = new["metadata"], current["metadata"]
        if metadata != was:
            self._check_metadata(errors, resource, metadata, _any_name)
            if "deletionTimestamp" in was:
                added = [each for each in metadata.get("finalizers", ()) if each not in was.get("finalizers", ())]
                if added:
                    shown = ", ".join(map(go_quote, sorted(added)))
                    detail = (
                        "no new finalizers can be added if the object is being deleted, "
                        f"found new finalizers []string{{{shown}}}"
                    )
                    errors.append(forbidden("metadata.finalizers", detail))
        untouched = shares_body(new, current)
        if resource.custom and not (untouched and new.get("status") is current.get("status")):
            errors += validate(self._core.schema(resource), {**new, "metadata": {}})
        if not untouched:
            errors += strategy.validate(new)
            if not subresource:
                errors += strategy.validate_update(new, current)
        if new.get("status") is not current.get("status"):
            errors += strategy.validate_status(new, current)
        return errors

    # Admission

    def _admit(
        self,
        operation: Operation,
        resource: Resource,
        obj: Object,
        old: Object | None,
        subresource: str,
        options: Options,
    ) -> Object:
        request = _request(operation, resource, obj, old, subresource, options)
        for admit in self._chain.builtin:
            changed = admit(request, self._view)
            if changed is not None:
                obj = changed
                request = _request(operation, resource, obj, old, subresource, options)
        for admit in self._chain.mutating:
            changed = admit(_request(operation, resource, obj, old, subresource, options), self._view)
            if changed is not None and changed is not obj:
                obj = self._default_again(resource, obj, changed)
        return obj

    def _default_again(self, resource: Resource, obj: Object, changed: Object) -> Object:
        """What an admission function adds is as raw as what a client sends."""
        strategy = self._core.strategy(resource)
        again = self._read(resource, strategy, changed)
        if "status" not in again and "status" in obj:
            again["status"] = copy_json(obj["status"])
        for key in ("name", "namespace", *SYSTEM):
            if key in obj["metadata"]:
                again["metadata"][key] = obj["metadata"][key]
        if resource.custom:
            again = apply_defaults(self._core.schema(resource), again)
        strategy.default(again)
        return again

    def _admit_finally(
        self,
        operation: Operation,
        resource: Resource,
        obj: Object,
        old: Object | None,
        subresource: str,
        options: Options,
    ) -> None:
        for admit in self._chain.validating:
            admit(_request(operation, resource, obj, old, subresource, options), self._view)

    def admit_delete(self, resource: Resource, old: Object, options: Options) -> None:
        """Let admission refuse a deletion."""
        for admit in self._chain.validating:
            admit(_request("DELETE", resource, None, old, "", options), self._view)

    # Storing

    @in_words
    def restore(self, resource: Resource, obj: Object, options: Options) -> Object:
        """Store an object with the metadata and status it has already."""
        strategy = self._core.strategy(resource)
        made = self._read(resource, strategy, obj)
        metadata, status = made["metadata"], copy_json(obj.get("status"))
        self._place(resource, metadata, None)
        metadata.pop("resourceVersion", None)
        metadata.setdefault("uid", self._core.identity.uid())
        metadata.setdefault("creationTimestamp", options.stamp)
        if strategy.intent is not None:
            metadata.setdefault("generation", 1)
        if resource.custom:
            made = apply_defaults(self._core.schema(resource), made)
        strategy.default(made)
        if status is not None and not strategy.keeps_status:
            made["status"] = status
        errors = self._check(resource, strategy, made) + strategy.validate(made)
        if errors:
            raise InvalidError(resource.kind, resource.group, metadata.get("name", ""), errors)
        if self._core.find(resource, metadata.get("namespace", ""), metadata["name"]) is not None:
            raise AlreadyExistsError.of(resource.plural, resource.group, metadata["name"])
        return self._store(resource, made, None, options)

    def _store(self, resource: Resource, new: Object, old: Object | None, options: Options) -> Object:
        stored = self._core.to_stored(resource, new)
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
        kept = self._core.commit(resource, stored, old)
        return kept if stored is new else self._core.load(resource, kept)


def _request(
    operation: Operation, resource: Resource, obj: Object | None, old: Object | None, subresource: str, options: Options
) -> AdmissionRequest:
    metadata = (obj or old or {})["metadata"]
    return AdmissionRequest(
        operation=operation,
        resource=resource,
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        object=obj,
        old_object=old,
        subresource=subresource,
        user=options.user,
        groups=options.groups,
        dry_run=options.dry_run,
        warnings=options.warnings,
    )


def _any_name(name: str, prefix: bool) -> list[str]:
    return []
