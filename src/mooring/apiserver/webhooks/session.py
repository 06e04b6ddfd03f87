"""What is known so far about one write: which webhooks were asked, about what, and what they said.

The registry asks while it works. A question that has no answer yet ends the attempt; the next attempt, which has the
same uid, names and time, finds the answer here, provided that it is about the same object. If the stored object has
moved on in between, it is not, and the webhooks are asked anew.
"""

from collections.abc import Callable
from typing import NamedTuple

from mooring.admission.rules import Invocation
from mooring.apiserver.calls import Call
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.webhooks.asking import Asking, Reinvocation
from mooring.apiserver.webhooks.configurations import Configurations, Phase
from mooring.apiserver.webhooks.pending import Pending
from mooring.apiserver.webhooks.review import Attributes
from mooring.kube.objects import Object
from mooring.registry.admission import AdmissionRequest, Complete, Naming
from mooring.registry.resources import Resource

__all__ = ["SameNames", "Session"]


class SameNames:
    """Gives every attempt the uids and names that the first one was given."""

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


class _Answer(NamedTuple):
    asked: Object | None
    old: Object | None
    made: Object | None = None

    def fits(self, request: AdmissionRequest) -> bool:
        return self.asked == request.object and self.old == request.old_object


class Session:
    """The webhooks' part in one write, as the registry's admission chain wants it. `about` depends on the operation."""

    def __init__(
        self,
        call: Call,
        configurations: Configurations,
        group_commit: GroupCommit,
        naming: Naming,
        about: Callable[[AdmissionRequest, str], Attributes],
        asking: Callable[[Attributes, str | None], Asking],
    ) -> None:
        self.warnings: list[str] = []
        self.naming = SameNames(naming)
        # As the client named it: the registry works on the version that is stored.
        self._resource, self._subresource = call.resource, call.target.subresource
        self._configurations = configurations
        self._group_commit = group_commit
        self._about = about
        self._make_asking = asking
        self._mutations: dict[bool, _Answer] = {}
        self._reinvocation = Reinvocation()
        self._judged: _Answer | None = None

    # What the admission chain calls

    def mutate(self, request: AdmissionRequest, complete: Complete, *, again: bool) -> Object | None:
        known = self._mutations.get(again)
        if known is not None and known.fits(request):
            return known.made
        if not again:
            self._reinvocation = Reinvocation()
            self._mutations.clear()
        elif request.object != self._reinvocation.output:
            # The built-in functions changed it after the webhooks had seen it.
            self._reinvocation.note_change()
        wanted = self._reinvocation.wanted
        invocations = self._invocations("mutating", request)
        if again:
            invocations = tuple(each for each in invocations if each.hook.id in wanted)
        asking = self._asking(request, unborn=True) if invocations else None
        if asking is None or not any(
            asking.concerns(each.hook, request.object, request.old_object) for each in invocations
        ):
            self._reinvocation.output = request.object
            self._mutations[again] = _Answer(request.object, request.old_object)
            return None

        async def settle(_: bool) -> None:
            await self._group_commit.wait()
            try:
                made = await asking.mutate(
                    invocations, request.object, request.old_object, complete, self._reinvocation, again=again
                )
            finally:
                self.warnings += asking.warnings
            self._reinvocation.output = request.object if made is None else made
            self._mutations[again] = _Answer(request.object, request.old_object, made)

        raise Pending(settle)

    def validate(self, request: AdmissionRequest) -> None:
        if self._judged is not None and self._judged.fits(request):
            return
        candidates = self._invocations("validating", request)
        if not candidates:
            return
        asking = self._asking(request, unborn=False)
        invocations = [each for each in candidates if asking.concerns(each.hook, request.object, request.old_object)]
        if not invocations:
            return

        async def settle(_: bool) -> None:
            await self._group_commit.wait()
            try:
                await asking.validate(invocations, request.object, request.old_object)
            finally:
                self.warnings += asking.warnings
            self._judged = _Answer(request.object, request.old_object)

        raise Pending(settle)

    def _asking(self, request: AdmissionRequest, *, unborn: bool) -> Asking:
        generated = self.naming.generated
        name = "" if unborn and request.operation == "CREATE" and request.name == generated else request.name
        return self._make_asking(self._about(request, name), generated)

    def _invocations(self, phase: Phase, request: AdmissionRequest) -> tuple[Invocation[Resource], ...]:
        return self._configurations.invocations(phase, self._resource, self._subresource, request.operation)
