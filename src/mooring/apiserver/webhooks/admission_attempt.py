"""The admission of one write by webhooks, over all attempts at the write.

The registry is synchronous and cannot wait for a webhook. A call that has no response yet ends the attempt; the next
attempt, with the same uid, names and time, finds the response here, provided that it is about the same object. If the
stored object has changed in between, the webhooks are called again.
"""

from collections.abc import Callable
from typing import NamedTuple

from mooring.admission.rules import Invocation
from mooring.apiserver.calls import Call
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.webhooks.configurations import Configurations, Phase
from mooring.apiserver.webhooks.invoker import Reinvocation, WebhookInvoker
from mooring.apiserver.webhooks.pending import Pending
from mooring.apiserver.webhooks.review import AdmissionAttributes
from mooring.kube.objects import Object
from mooring.registry.admission.chain import AdmissionRequest, Complete, Naming
from mooring.registry.resources import Resource

__all__ = ["AdmissionAttempt", "SameNames"]


class SameNames:
    """Gives every attempt the uids and generated names of the first one."""

    def __init__(self, naming: Naming) -> None:
        self.generated: str | None = None
        self._naming = naming
        self._given: list[str] = []
        self._next = 0

    def start_over(self) -> None:
        self._next = 0

    def uid(self) -> str:
        return self._give(self._naming.uid)

    def name(self, prefix: str) -> str:
        self.generated = self._give(lambda: self._naming.name(prefix))
        return self.generated

    def _give(self, make: Callable[[], str]) -> str:
        if self._next == len(self._given):
            self._given.append(make())
        self._next += 1
        return self._given[self._next - 1]


class _Admitted(NamedTuple):
    asked: Object | None
    old: Object | None
    made: Object | None = None

    def fits(self, request: AdmissionRequest) -> bool:
        return self.asked == request.object and self.old == request.old_object


class AdmissionAttempt:
    """Remote admission of one write, as the registry's admission chain calls it. `about` depends on the operation;
    `policies` tells whether some policy has a rule for a request."""

    def __init__(
        self,
        call: Call,
        configurations: Configurations,
        policies: Callable[[Resource, str, str], bool],
        group_commit: GroupCommit,
        naming: Naming,
        about: Callable[[AdmissionRequest, str], AdmissionAttributes],
        invoker: Callable[[AdmissionAttributes, str | None], WebhookInvoker],
    ) -> None:
        self.warnings: list[str] = []
        self.naming = SameNames(naming)
        # In the version of the request: the registry works on the version that is stored.
        self._resource, self._subresource = call.resource, call.target.subresource
        self._configurations = configurations
        self._policies = policies
        self._group_commit = group_commit
        self._about = about
        self._make_invoker = invoker
        self._mutations: dict[bool, _Admitted] = {}
        self._reinvocation = Reinvocation()
        self._judged: _Admitted | None = None

    # What the admission chain calls

    def mutate(self, request: AdmissionRequest, complete: Complete, *, again: bool) -> Object | None:
        known = self._mutations.get(again)
        if known is not None and known.fits(request):
            return known.made
        if not again:
            self._reinvocation = Reinvocation()
            self._mutations.clear()
        elif request.object != self._reinvocation.output:
            # Built-in admission changed the object after the webhooks had seen it.
            self._reinvocation.record_change()
        wanted = self._reinvocation.wanted
        invocations = self._invocations("mutating", request)
        if again:
            invocations = tuple(each for each in invocations if each.hook.id in wanted)
        invoker = self._invoker(request, before_create=True) if invocations else None
        if invoker is None or not any(
            invoker.concerns(each.hook, request.object, request.old_object) for each in invocations
        ):
            self._reinvocation.output = request.object
            self._mutations[again] = _Admitted(request.object, request.old_object)
            return None

        async def settle(_: bool) -> None:
            await self._group_commit.wait()
            try:
                made = await invoker.mutate(
                    invocations, request.object, request.old_object, complete, self._reinvocation, again=again
                )
            finally:
                self.warnings += invoker.warnings
            self._reinvocation.output = request.object if made is None else made
            self._mutations[again] = _Admitted(request.object, request.old_object, made)

        raise Pending(settle)

    def validate(self, request: AdmissionRequest) -> None:
        if self._judged is not None and self._judged.fits(request):
            return
        candidates = self._invocations("validating", request)
        policies = self._policies(self._resource, self._subresource, request.operation)
        if not candidates and not policies:
            return
        invoker = self._invoker(request, before_create=False)
        invocations = [each for each in candidates if invoker.concerns(each.hook, request.object, request.old_object)]
        if not invocations and not policies:
            return

        async def settle(_: bool) -> None:
            await self._group_commit.wait()
            try:
                if policies:
                    await invoker.ask_policies(request.object, request.old_object)
                await invoker.validate(invocations, request.object, request.old_object)
            finally:
                self.warnings += invoker.warnings
            self._judged = _Admitted(request.object, request.old_object)

        raise Pending(settle)

    def _invoker(self, request: AdmissionRequest, *, before_create: bool) -> WebhookInvoker:
        generated = self.naming.generated
        name = "" if before_create and request.operation == "CREATE" and request.name == generated else request.name
        return self._make_invoker(self._about(request, name), generated)

    def _invocations(self, phase: Phase, request: AdmissionRequest) -> tuple[Invocation[Resource], ...]:
        return self._configurations.invocations(phase, self._resource, self._subresource, request.operation)
