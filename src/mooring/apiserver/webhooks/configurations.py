"""The webhook configurations, compiled, so that a request that matches no webhook costs one look-up."""

from dataclasses import replace
from typing import Final, Literal

from mooring.admission.rules import Hook, Invocation, hooks_of, invocation, is_exempt
from mooring.registry import Registry, Resource, Watch

__all__ = ["Configurations", "Phase"]

Phase = Literal["mutating", "validating"]

_GROUP: Final = "admissionregistration.k8s.io/v1"
_KINDS: Final[dict[Phase, str]] = {
    "mutating": "MutatingWebhookConfiguration",
    "validating": "ValidatingWebhookConfiguration",
}


class Configurations:
    """The webhooks in force, in the order in which they are called: by configuration's name, then as listed."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._hooks: dict[Phase, tuple[Hook, ...]] | None = None
        self._found: dict[tuple[Phase, Resource, str, str], tuple[Invocation[Resource], ...]] = {}
        self._watches = [self._listen(_GROUP, kind) for kind in _KINDS.values()]
        # Which versions are equivalent follows from the definitions.
        self._watches.append(self._listen("apiextensions.k8s.io/v1", "CustomResourceDefinition"))

    def _listen(self, api_version: str, kind: str) -> Watch:
        # Never polled: only its wake callback is used, which is called on every change.
        resource = self._registry.resource(api_version, kind)
        return self._registry.watch(resource, resource_version=str(self._registry.revision), wake=self._forget)

    def _forget(self) -> None:
        self._hooks = None
        self._found.clear()

    def close(self) -> None:
        for watch in self._watches:
            watch.close()

    def invocations(
        self, phase: Phase, resource: Resource, subresource: str, operation: str
    ) -> tuple[Invocation[Resource], ...]:
        """The webhooks whose rules cover such a request; selectors are still to be asked."""
        key = (phase, resource, subresource, operation)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._match(*key)
        return found

    def _match(
        self, phase: Phase, resource: Resource, subresource: str, operation: str
    ) -> tuple[Invocation[Resource], ...]:
        hooks = self._compiled()[phase]
        if not hooks or is_exempt(resource):
            return ()
        equivalents = self._registry.resources.in_store(resource.store)
        matched = (invocation(hook, resource, subresource, operation, equivalents) for hook in hooks)
        return tuple(each for each in matched if each is not None)

    @property
    def empty(self) -> bool:
        """Whether there is no webhook at all, as on most servers."""
        return not any((self._hooks or self._compiled()).values())

    def _compiled(self) -> dict[Phase, tuple[Hook, ...]]:
        if self._hooks is None:
            self._hooks = {each: self._read(each) for each in _KINDS}
        return self._hooks

    def _read(self, phase: Phase) -> tuple[Hook, ...]:
        stored = self._registry.all(_GROUP, _KINDS[phase])
        in_order = sorted(stored, key=lambda each: str(each["metadata"]["name"]))
        hooks = (hook for each in in_order for hook in hooks_of(each))
        return tuple(replace(hook, index=index) for index, hook in enumerate(hooks))
