"""Calls the webhooks that match one request: mutating webhooks one after the other, validating ones all at once."""

import asyncio
import json
import logging
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from uuid import uuid4

from mooring.admission.refusals import call_failure, denial, dry_run_refusal
from mooring.admission.reviews import (
    BadReview,
    GroupVersionKind,
    WebhookVerdict,
    encode_request,
    read_verdict,
    review_version,
    strip_server_fields,
)
from mooring.admission.rules import Hook, Invocation, selects_namespace, selects_object
from mooring.apiserver.authorization.attributes import Authorizer
from mooring.apiserver.webhooks.endpoints import Unresolved, find_address, url_of
from mooring.apiserver.webhooks.http import CallFailed, WebhookClient
from mooring.apiserver.webhooks.off_loop import OffLoop
from mooring.apiserver.webhooks.pending import settled
from mooring.apiserver.webhooks.policies import Policies
from mooring.apiserver.webhooks.review import AdmissionAttributes, failure_of, review
from mooring.kube.errors import go_quote, required
from mooring.kube.json_errors import TYPE_META, json_type, unmarshal_complaint
from mooring.kube.names import is_qualified_name
from mooring.kube.objects import Object
from mooring.kube.patches import PatchError, json_patch
from mooring.kube.status import ApiError, BadRequestError, ForbiddenError, InternalError, InvalidError, UnknownError
from mooring.registry import Registry, Resource
from mooring.registry.admission.chain import Complete
from mooring.registry.request_body import UnreadableError, WrongTypeError, check_type

__all__ = ["Judges", "Reinvocation", "ReviewObjects", "WebhookInvoker"]


_log = logging.getLogger(__name__)


class Reinvocation:
    """The webhooks to call a second time (reinvocationPolicy) because others changed the object after them."""

    def __init__(self) -> None:
        self.wanted: set[str] = set()
        self._called: set[str] = set()
        self.output: Object | None = None

    def record_call(self, hook: Hook) -> None:
        if hook.reinvoked:
            self._called.add(hook.id)

    def record_change(self) -> None:
        self.wanted |= self._called
        self._called = set()


class ReviewObjects:
    """Objects of a request as AdmissionReviews have them, and patched objects as the registry has them.

    Before an object is created it has no uid, no creationTimestamp and no generated name; the scale subresource of a
    workload is sent as a Scale.
    """

    def __init__(self, registry: Registry, about: AdmissionAttributes, generated: str | None) -> None:
        self._registry = registry
        self._about = about
        self._generated = generated

    def kind(self, resource: Resource) -> GroupVersionKind:
        about = self._about
        if resource is about.resource or about.kind.kind != about.resource.kind:
            return about.kind
        return GroupVersionKind(resource.group, resource.version, resource.kind)

    def to(self, resource: Resource, obj: Object | None, *, before_create: bool = False) -> Object | None:
        if obj is None:
            return None
        if self._about.subresource == "scale":
            return self._registry.scale_of(self._about.resource, obj)
        if self._about.kind.kind == self._about.resource.kind:
            obj = self._registry.convert(obj, resource)
        if not (before_create and self._about.operation == "CREATE"):
            return obj
        shown = strip_server_fields(obj)
        if shown["metadata"].get("name") == self._generated:
            del shown["metadata"]["name"]
        return shown

    def check_patched(self, resource: Resource, made: Object) -> None:
        """Refuse an object that a webhook made into something else; a patch is obeyed or fails, whatever the policy."""
        about = self._about
        if about.subresource == "scale" or about.kind.kind != about.resource.kind:
            return
        try:
            check_type(resource, made)
        except WrongTypeError as error:
            raise (UnknownError(error.why) if "converting" in error.why else InternalError.of(error.why)) from None
        metadata = made.setdefault("metadata", {})
        if not isinstance(metadata, dict):
            why = f"json: cannot unmarshal {json_type(metadata)} into Go struct field {about.kind.kind}.metadata"
            raise InternalError.of(f"{why} of type v1.ObjectMeta")
        if about.operation == "CREATE" and not (metadata.get("name") or metadata.get("generateName")):
            missing = required("metadata.name", "name or generateName is required")
            raise InvalidError(about.kind.kind, about.kind.group, "", [missing])
        if about.resource.namespaced and metadata.get("namespace") not in (None, "", about.namespace):
            raise BadRequestError(
                "the namespace of the provided object does not match the namespace sent on the request"
            )

    def back(self, made: Object, obj: Object) -> Object:
        """The object that a webhook patched, in the version of the registry."""
        if self._about.subresource == "scale":
            return self._registry.rescaled(self._about.resource, obj, made)
        if self._about.kind.kind != self._about.resource.kind:
            return made
        found = self._registry.resources.find(obj["apiVersion"], obj["kind"])
        return made if found is None else self._registry.convert(made, found)


class Judges(NamedTuple):
    """What decides on a request inside of the server: policies, and whom the conditions of webhooks ask for rights."""

    policies: Policies
    authorize: Authorizer
    off_loop: OffLoop


class WebhookInvoker:
    """The webhook calls of one request. `warnings` collects the warnings of their responses."""

    def __init__(
        self,
        registry: Registry,
        client: WebhookClient,
        judges: Judges,
        about: AdmissionAttributes,
        generated: str | None,
    ) -> None:
        self.warnings: list[str] = []
        self._registry = registry
        self._client = client
        self._judges = judges
        self._about = about
        self._review_objects = ReviewObjects(registry, about, generated)

    # Matching

    def concerns(self, hook: Hook, obj: Object | None, old: Object | None) -> bool:
        """Whether the selectors of a webhook match the request; 404 when its namespace does not exist."""
        about = self._about
        inside = selects_namespace(hook, about.resource, about.subresource, about.namespace, obj, self._namespace)
        return inside and selects_object(hook, obj, old)

    def _namespace(self, name: str) -> Object | None:
        return self._registry.find("v1", "Namespace", "", name)

    async def _conditions_hold(self, hook: Hook, resource: Resource, shown: Object | None, old: Object | None) -> bool:
        """Whether the matchConditions of a webhook hold for the request; 403 where that cannot be told."""
        if not hook.conditions:
            return True
        # Few webhooks have conditions, and nobody else waits for what evaluates them.
        from mooring.admission.conditions import ConditionError, matches_conditions
        from mooring.apiserver.webhooks.request_variables import request_variables

        shown_old = await settled(partial(self._review_objects.to, resource, old))
        kind, about = self._review_objects.kind(resource), self._about
        variables = request_variables(about, resource, kind, shown, shown_old, self._judges.authorize)

        def matches(patience: int | None) -> bool:
            return matches_conditions(
                hook.conditions, variables, params=False, fails_open=hook.fails_open, patience=patience
            )

        try:
            return await self._judges.off_loop.run(matches)
        except ConditionError as error:
            raise ForbiddenError.of(about.resource.plural, about.resource.group, about.name, str(error)) from None

    # Policies

    async def ask_policies(self, obj: Object | None, old: Object | None) -> None:
        """Return if no policy denies the request."""
        objects = self._review_objects

        async def shown(resource: Resource) -> tuple[Object | None, Object | None, GroupVersionKind]:
            new, was = [await settled(partial(objects.to, resource, each)) for each in (obj, old)]
            return new, was, objects.kind(resource)

        await self._judges.policies.check(self._about, obj, old, shown, self.warnings)

    # Calling

    async def mutate(
        self,
        invocations: Sequence[Invocation[Resource]],
        obj: Object | None,
        old: Object | None,
        complete: Complete,
        reinvocation: Reinvocation,
        *,
        again: bool,
    ) -> Object | None:
        """The object as the webhooks changed it; None when they changed nothing."""
        changed = False
        for hook, resource in invocations:
            if (again and hook.id not in reinvocation.wanted) or not self.concerns(hook, obj, old):
                continue
            made = await self._change(hook, resource, obj, old, complete, int(again))
            if made is not None:
                obj, changed = made, True
                reinvocation.record_change()
            # After record_change: a webhook is not called again because of its own change.
            reinvocation.record_call(hook)
        return obj if changed else None

    async def _change(
        self,
        hook: Hook,
        resource: Resource,
        obj: Object | None,
        old: Object | None,
        complete: Complete,
        round_number: int,
    ) -> Object | None:
        """The object as one webhook changed it, with defaults; None when it changed nothing."""
        shown = await settled(partial(self._review_objects.to, resource, obj, before_create=True))
        if not await self._conditions_hold(hook, resource, shown, old):
            return None
        place = f"mutation.webhook.admission.k8s.io/round_{round_number}_index_{hook.index}"
        made = None
        try:
            made = await self._asked_to_change(hook, resource, obj, shown, old, complete, place)
        finally:
            # Also of one that failed.
            told = {"configuration": hook.configuration, "webhook": hook.name, "mutated": made is not None}
            self._note(place, json.dumps(told, separators=(",", ":")))
        return made

    async def _asked_to_change(
        self,
        hook: Hook,
        resource: Resource,
        obj: Object | None,
        shown: Object | None,
        old: Object | None,
        complete: Complete,
        place: str,
    ) -> Object | None:
        verdict = await self._verdict(hook, resource, shown, old, place, mutates=True)
        if verdict is None or verdict.patch is None:
            return None
        if shown is None or obj is None:
            name = go_quote(hook.name)
            why = f"admission webhook {name} attempted to modify the object, which is not supported for this operation"
            raise InternalError.of(why)
        made = _patched(shown, verdict.patch)
        if made == shown:
            return None
        try:
            self._review_objects.check_patched(resource, made)
            return complete(obj, await settled(partial(self._review_objects.back, made, obj)))
        except UnreadableError as error:
            raise InternalError.of(error.why) from None

    async def validate(
        self, invocations: Sequence[Invocation[Resource]], obj: Object | None, old: Object | None
    ) -> None:
        """Return if every webhook allows the request."""
        calls = [self._judge(hook, resource, obj, old) for hook, resource in invocations]
        refusals = [each for each in await asyncio.gather(*calls) if each is not None]
        if refusals:
            raise refusals[0]

    async def _judge(self, hook: Hook, resource: Resource, obj: Object | None, old: Object | None) -> ApiError | None:
        try:
            shown = await settled(partial(self._review_objects.to, resource, obj))
            if not await self._conditions_hold(hook, resource, shown, old):
                return None
            place = f"validating.webhook.admission.k8s.io/round_0_index_{hook.index}"
            await self._verdict(hook, resource, shown, old, place, mutates=False)
        except ApiError as error:
            return error
        return None

    async def _verdict(
        self, hook: Hook, resource: Resource, shown: Object | None, old: Object | None, place: str, *, mutates: bool
    ) -> WebhookVerdict | None:
        """The verdict of a webhook; None when the call failed and failurePolicy is Ignore. `place` is what the audit
        log calls the call."""
        if self._about.dry_run and not hook.dry_runs:
            raise dry_run_refusal(hook.name)
        shown_old = await settled(partial(self._review_objects.to, resource, old))
        try:
            verdict = await self._call(hook, resource, shown, shown_old, mutates=mutates)
        except (BadReview, CallFailed) as error:
            if not hook.fails_open:
                raise call_failure(hook.name, str(error)) from None
            _log.warning("failed calling webhook %s, which is ignored: %s", hook.name, error)
            self._note(f"failed-open.{place}", hook.name)
            return None
        for key, value in sorted(verdict.annotations.items()):
            if not is_qualified_name(f"{hook.name}/{key}"):
                self._note(f"{hook.name}/{key}", value)
        self.warnings += verdict.warnings
        if not verdict.allowed:
            raise denial(hook.name, verdict.status)
        return verdict

    def _note(self, key: str, value: str) -> None:
        """For the audit log; what was noted first stays."""
        if self._about.annotations is not None:
            self._about.annotations.setdefault(key, value)

    async def _call(
        self, hook: Hook, resource: Resource, shown: Object | None, old: Object | None, *, mutates: bool
    ) -> WebhookVerdict:
        uid, version = str(uuid4()), review_version(hook.versions)
        sent = review(uid, self._about, resource, self._review_objects.kind(resource), shown, old)
        query = f"?timeout={hook.seconds}s"
        try:
            target = find_address(self._registry, hook.client)
            answer = await self._client.post(target, query, encode_request(version, sent), hook.seconds)
        except (CallFailed, Unresolved) as error:
            raise CallFailed(f'failed to call webhook: Post "{url_of(hook.client)}{query}": {error}') from None
        if not 200 <= answer.status < 300:
            raise CallFailed(f"failed to call webhook: {failure_of(answer)}")
        media = answer.headers.get(b"content-type", b"").decode("latin-1")
        return read_verdict(answer.body, uid, version, mutates=mutates, status=answer.status, media=media)


def _patched(obj: Object, patch: list[Object]) -> Object:
    for operation in patch:
        # A client that sends such a patch itself is told otherwise.
        if not isinstance(operation.get("op", ""), str):
            raise InternalError.of("Unexpected kind: unknown")
        if not isinstance(operation.get("path", ""), str):
            raise InternalError.of(f"{operation.get('op')} operation failed to decode path: missing value")
    try:
        made = json_patch(obj, patch)
    except PatchError as error:
        raise InternalError.of(str(error)) from None
    if not isinstance(made, dict):
        why = unmarshal_complaint(made, TYPE_META)
        raise InternalError.of(f"couldn't get version/kind; json parse error: {why}")
    return made
