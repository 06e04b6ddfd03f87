"""The door between handlers and foreign webhooks: a handler says what it wants the registry to do, and that is done
once everybody has been asked.

The first attempt goes to the registry as if there were no webhooks; only where one is concerned anything here costs.
"""

from collections.abc import Callable
from typing import TypeVar

from mooring.admission.reviews import GroupVersionKind
from mooring.apiserver.calls import Call
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.webhooks.asking import Asking, Reinvocation
from mooring.apiserver.webhooks.configurations import Configurations, Phase, warn_of_conditions
from mooring.apiserver.webhooks.conversion import Conversions
from mooring.apiserver.webhooks.http import Client
from mooring.apiserver.webhooks.pending import Pending, settled
from mooring.apiserver.webhooks.review import Attributes
from mooring.apiserver.webhooks.session import Session
from mooring.kube.objects import Object
from mooring.registry import AdmissionRequest, Registry, Resource
from mooring.registry.admission import Operation

__all__ = ["Webhooks"]

# The options of a write, as an object of the API, for the operation that it turns out to be.
OptionsFor = Callable[[str], Object]
T = TypeVar("T")

_PHASES: tuple[Phase, ...] = ("mutating", "validating")
_SUBRESOURCE_KINDS = {
    "binding": GroupVersionKind("", "v1", "Binding"),
    "eviction": GroupVersionKind("policy", "v1", "Eviction"),
    "scale": GroupVersionKind("autoscaling", "v1", "Scale"),
}


class Webhooks:
    """All that a server has to do with foreign webhooks."""

    def __init__(self, registry: Registry, group_commit: GroupCommit) -> None:
        self._registry = registry
        self._group_commit = group_commit
        self._client = Client()
        self._configurations = Configurations(registry)
        self._conversions = Conversions(registry, self._client)
        registry.register_remote_conversion(self._conversions.convert)
        registry.admission.validating.append(warn_of_conditions)

    def close(self) -> None:
        self._configurations.close()
        self._conversions.close()
        self._client.close()

    def concern(self, resource: Resource, subresource: str, *operations: Operation) -> bool:
        """Whether some webhook has a rule for such a write."""
        if self._configurations.empty:
            return False
        invocations = self._configurations.invocations
        return any(
            invocations(phase, resource, subresource, operation) for operation in operations for phase in _PHASES
        )

    async def read(self, attempt: Callable[[], T], *, whole: bool = False) -> T:
        """What `attempt` reads, converted where that takes a webhook; `whole` when it reads all objects of a kind."""
        try:
            return attempt()
        except Pending as pending:
            first = pending
        return await settled(attempt, first, whole=whole)

    async def write(
        self, call: Call, attempt: Callable[[], T], options: OptionsFor, *operations: Operation, name: str | None = None
    ) -> T:
        """What `attempt` writes, once all webhooks that it concerns have been asked.

        `attempt` is made several times and must give the registry the same every time, the clock included. `name` is
        what webhooks are told the object is called, where that is not its name.
        """
        if not self.concern(call.resource, call.target.subresource, *operations):
            return await self.read(attempt)
        dry_run = "dryRun" in options(operations[0])

        def about(request: AdmissionRequest, known: str) -> Attributes:
            told = known if name is None else name
            return _attributes(call, request.operation, request.namespace, told, dry_run, options)

        session = Session(call, self._configurations, self._group_commit, self._registry.naming, about, self._asking)
        before = len(call.warnings)

        def attempt_with_webhooks() -> T:
            # What an earlier attempt warned of is warned of again.
            del call.warnings[before:]
            session.naming.start_over()
            with self._registry.admission.asking(session):
                return attempt()

        try:
            return await settled(attempt_with_webhooks)
        finally:
            call.warnings += session.warnings

    async def review(self, call: Call, obj: Object, options: OptionsFor) -> Object:
        """The object that is created below another one, as webhooks want it: a binding or an eviction."""
        resource, subresource = call.resource, call.target.subresource
        if not self.concern(resource, subresource, "CREATE"):
            return obj
        dry_run = "dryRun" in options("CREATE")
        about = _attributes(call, "CREATE", call.namespace, call.target.name, dry_run, options)
        asking = self._asking(about, None)
        invocations = {
            phase: self._configurations.invocations(phase, resource, subresource, "CREATE") for phase in _PHASES
        }
        reinvocation = Reinvocation()
        try:
            for again in (False, True):
                made = await asking.mutate(
                    invocations["mutating"], obj, None, lambda _, made: made, reinvocation, again=again
                )
                obj = obj if made is None else made
            judges = [each for each in invocations["validating"] if asking.concerns(each.hook, obj, None)]
            await asking.validate(judges, obj, None)
        finally:
            call.warnings += asking.warnings
        return obj

    def _asking(self, about: Attributes, generated: str | None) -> Asking:
        return Asking(self._registry, self._client, about, generated)


def _attributes(
    call: Call, operation: Operation, namespace: str, name: str, dry_run: bool, options: OptionsFor
) -> Attributes:
    resource, subresource = call.resource, call.target.subresource
    # A namespace counts as being in itself.
    inside = name if resource.store == "namespaces" else namespace
    return Attributes(
        operation=operation,
        resource=resource,
        subresource=subresource,
        kind=_SUBRESOURCE_KINDS.get(subresource) or GroupVersionKind(resource.group, resource.version, resource.kind),
        namespace=inside,
        name=name,
        user=call.request.user,
        dry_run=dry_run,
        options=options(operation),
    )
