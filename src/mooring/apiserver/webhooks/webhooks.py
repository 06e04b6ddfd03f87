"""Between handlers and webhooks: a handler gives the registry call it wants, which is repeated until all webhooks
answered.

The first attempt goes to the registry as if there were no webhooks, so a request that matches none costs nothing here.
"""

from collections.abc import Callable, Generator
from typing import TypeVar

from mooring.admission.reviews import GroupVersionKind
from mooring.apiserver.authorization.attributes import Authorizer
from mooring.apiserver.calls import Call
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.webhooks.admission_attempt import AdmissionAttempt
from mooring.apiserver.webhooks.configurations import Configurations, Phase
from mooring.apiserver.webhooks.conversion import Conversions
from mooring.apiserver.webhooks.http import WebhookClient
from mooring.apiserver.webhooks.invoker import Judges, Reinvocation, WebhookInvoker
from mooring.apiserver.webhooks.off_loop import OffLoop
from mooring.apiserver.webhooks.pending import Pending, settled
from mooring.apiserver.webhooks.policies import Policies
from mooring.apiserver.webhooks.review import AdmissionAttributes
from mooring.apiserver.webhooks.slow_rules import SlowRules
from mooring.kube.objects import Object
from mooring.net.asgi import Turn
from mooring.registry import AdmissionRequest, Registry, Resource
from mooring.registry.admission.chain import Operation
from mooring.registry.slices import finish

__all__ = ["Webhooks"]

# The options of a write, as an object of the API, for the operation that it turns out to be.
OptionsFor = Callable[[str], Object]
T = TypeVar("T")

_PHASES: tuple[Phase, ...] = ("mutating", "validating")
_SUBRESOURCE_KINDS = {
    "binding": GroupVersionKind("", "v1", "Binding"),
    "eviction": GroupVersionKind("policy", "v1", "Eviction"),
    "token": GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest"),
    "scale": GroupVersionKind("autoscaling", "v1", "Scale"),
}


class Webhooks:
    """The webhooks of one API server: admission and conversion."""

    def __init__(self, registry: Registry, group_commit: GroupCommit, authorize: Authorizer) -> None:
        self._registry = registry
        self._group_commit = group_commit
        self._client = WebhookClient()
        self._configurations = Configurations(registry)
        self._conversions = Conversions(registry, self._client)
        registry.register_remote_conversion(self._conversions.convert)
        self._authorize = authorize
        self._off_loop = OffLoop()
        self._policies = Policies(registry, authorize, self._off_loop)
        registry.register_rule_check(SlowRules(self._off_loop).check)

    def close(self) -> None:
        self._policies.close()
        self._off_loop.close()
        self._configurations.close()
        self._conversions.close()
        self._client.close()

    def concern(self, resource: Resource, subresource: str, *operations: Operation) -> bool:
        """Whether some webhook or policy has a rule for such a write."""
        if self._policies.concern(resource, subresource, *operations):
            return True
        if self._configurations.empty:
            return False
        invocations = self._configurations.invocations
        return any(
            invocations(phase, resource, subresource, operation) for operation in operations for phase in _PHASES
        )

    async def read(self, attempt: Callable[[], T], *, whole: bool = False) -> T:
        """What `attempt` reads, converted by webhooks where needed; `whole` when it reads all objects of a kind."""
        try:
            return attempt()
        except Pending as pending:
            first = pending
        return await settled(attempt, first, whole=whole)

    async def read_slices(self, attempt: Callable[[], Generator[None, None, T]], turn: Turn) -> T:
        """The same for what reads all objects of a kind: others have their turn between two slices of it."""
        try:
            return await _in_turns(attempt(), turn)
        except Pending as pending:
            first = pending
        return await settled(lambda: finish(attempt()), first, whole=True)

    async def write(
        self, call: Call, attempt: Callable[[], T], options: OptionsFor, *operations: Operation, name: str | None = None
    ) -> T:
        """What `attempt` writes, once all webhooks that match it have responded.

        `attempt` is made several times and must give the registry the same every time, the clock included. `name`
        replaces the object's name in the AdmissionReview.
        """
        if not self.concern(call.resource, call.target.subresource, *operations):
            return await self.read(attempt)
        dry_run = "dryRun" in options(operations[0])

        def about(request: AdmissionRequest, known: str) -> AdmissionAttributes:
            told = known if name is None else name
            return _attributes(call, request.operation, request.namespace, told, dry_run, options)

        admission_attempt = AdmissionAttempt(
            call,
            self._configurations,
            self._policies.concern,
            self._group_commit,
            self._registry.naming,
            about,
            self._invoker,
        )
        before = len(call.warnings)

        def attempt_with_webhooks() -> T:
            # This attempt repeats the warnings of the earlier one.
            del call.warnings[before:]
            admission_attempt.naming.start_over()
            with self._registry.admission.with_webhooks(admission_attempt):
                return attempt()

        try:
            return await settled(attempt_with_webhooks)
        finally:
            call.warnings += admission_attempt.warnings

    async def review(self, call: Call, obj: Object, options: OptionsFor) -> Object:
        """A binding or an eviction (a subresource that is created) after admission by webhooks."""
        resource, subresource = call.resource, call.target.subresource
        if not self.concern(resource, subresource, "CREATE"):
            return obj
        dry_run = "dryRun" in options("CREATE")
        about = _attributes(call, "CREATE", call.namespace, call.target.name, dry_run, options)
        invoker = self._invoker(about, None)
        invocations = {
            phase: self._configurations.invocations(phase, resource, subresource, "CREATE") for phase in _PHASES
        }
        reinvocation = Reinvocation()
        try:
            for again in (False, True):
                made = await invoker.mutate(
                    invocations["mutating"], obj, None, lambda _, made: made, reinvocation, again=again
                )
                obj = obj if made is None else made
            await invoker.ask_policies(obj, None)
            judges = [each for each in invocations["validating"] if invoker.concerns(each.hook, obj, None)]
            await invoker.validate(judges, obj, None)
        finally:
            call.warnings += invoker.warnings
        return obj

    def _invoker(self, about: AdmissionAttributes, generated: str | None) -> WebhookInvoker:
        judges = Judges(self._policies, self._authorize, self._off_loop)
        return WebhookInvoker(self._registry, self._client, judges, about, generated)


async def _in_turns(slices: Generator[None, None, T], turn: Turn) -> T:
    while True:
        try:
            next(slices)
        except StopIteration as end:
            made: T = end.value
            return made
        await turn()


def _attributes(
    call: Call, operation: Operation, namespace: str, name: str, dry_run: bool, options: OptionsFor
) -> AdmissionAttributes:
    resource, subresource = call.resource, call.target.subresource
    # A namespace counts as being in itself.
    inside = name if resource.store == "namespaces" else namespace
    return AdmissionAttributes(
        operation=operation,
        resource=resource,
        subresource=subresource,
        kind=_SUBRESOURCE_KINDS.get(subresource) or GroupVersionKind(resource.group, resource.version, resource.kind),
        namespace=inside,
        name=name,
        user=call.request.user,
        dry_run=dry_run,
        options=options(operation),
        annotations=call.request.annotations,
    )
