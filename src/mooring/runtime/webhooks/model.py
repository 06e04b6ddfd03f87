"""A webhook as declared: a function from a request and a view to an answer, and what it wants to be asked about.

    def admit(request: Request, view: View) -> Admitted | Denied

The function does no I/O and knows no clock but `view.now`. It gives the object as it should be; the runtime makes the
patch. Run twice on one object it must give the same, because API servers do that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from mooring.admission.reviews import Operation
from mooring.api.kinds import HasMeta, Key, Kind
from mooring.kube.errors import FieldError, MooringError
from mooring.kube.objects import Object
from mooring.kube.status import InvalidError
from mooring.runtime.dispatcher.observedobject import ObjectReader
from mooring.runtime.settings import Setting
from mooring.runtime.view import View

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource

T = TypeVar("T", bound=HasMeta)

_PODS: Final = frozenset({"pods", "pods/*", "*", "*/*"})


@dataclass(frozen=True)
class WebhookRequest:
    """One write that is about to happen. `object` is None for a deletion, `old_object` for a creation.

    Both are shared: build a new one around the parts that stay. Before it is created an object has no uid, and no name
    if that is to be generated.
    """

    operation: Operation
    api_version: str
    kind: str
    resource: str
    name: str
    namespace: str = ""
    object: Object | None = None
    old_object: Object | None = None
    subresource: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    dry_run: bool = False

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    def typed(self, kind: Kind[T]) -> T | None:
        """The object as a typed view."""
        return None if self.object is None else _typed(kind, self.object)

    def old_typed(self, kind: Kind[T]) -> T | None:
        return None if self.old_object is None else _typed(kind, self.old_object)


def _typed(kind: Kind[T], obj: Object) -> T:
    named = {**obj, "metadata": {"name": "", **obj["metadata"]}}
    view: T = ObjectReader(kind).read(named).view
    return view


class Absent(NamedTuple):
    """Something that a refusal rests on not being there: one object, or with no key any object of a kind."""

    kind: Kind[Any]
    key: Key | None = None


def absent(kind: Kind[Any], namespace: str = "", name: str = "") -> Absent:
    return Absent(kind, Key(namespace, name) if name else None)


class Admitted(NamedTuple):
    """Let it pass; with an object, in that form. A caller that has a `patch` already may give that instead."""

    object: Object | None = None
    warnings: tuple[str, ...] = ()
    patch: tuple[Object, ...] = ()


@dataclass(frozen=True)
class Denied:
    """Refuse it. With field errors it is refused as invalid, otherwise as forbidden.

    What `absent` names is looked up live, and if it is there after all the function is asked again. The same is done
    for every object that the view was asked for and did not have, and for every list that was empty.
    """

    message: str = ""
    errors: tuple[FieldError, ...] = ()
    absent: tuple[Absent, ...] = ()
    warnings: tuple[str, ...] = ()
    code: int = 403
    reason: str = "Forbidden"

    def status(self, request: WebhookRequest) -> Object:
        """The Status that tells it."""
        if self.errors:
            told = InvalidError(request.kind, request.group, request.name, self.errors).status()
            return {key: told[key] for key in ("status", "message", "reason", "details", "code")}
        return {"status": "Failure", "message": self.message, "reason": self.reason, "code": self.code}


Admit = Callable[[WebhookRequest, View], Admitted | Denied]


class Rule(NamedTuple):
    """What a webhook is asked about. `resource` is the plural, with `/sub` for a sub-resource."""

    api_version: str
    resource: str
    operations: tuple[Operation, ...] = ("CREATE",)

    @property
    def is_about_pods(self) -> bool:
        return self.api_version in ("v1", "*", "*/*") and self.resource in _PODS


@dataclass(frozen=True, eq=False)
class Webhook:
    """One concern. `name` is a domain name of three parts or more, as the API wants it.

    `switch` is the word by which people turn it on and off, with `--controllers`, beside the controllers; webhooks that
    make sense only together share one. Without it, it follows from the name: `pods.example.com` is `pods-webhook`.

    A webhook that is asked about pods must be narrowed by labels, and is never asked about those of kube-system: one
    that fails must not take the cluster with it.
    """

    name: str
    phase: Literal["mutating", "validating"]
    admit: Admit
    rules: tuple[Rule, ...]
    reads: tuple[Kind[Any], ...] = ()
    object_selector: Mapping[str, Any] = field(default_factory=dict)
    namespace_selector: Mapping[str, Any] = field(default_factory=dict)
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    timeout_seconds: int = 10
    reinvoked: bool = True
    # Feature gates and settings that it asks its view for.
    gates: Mapping[str, bool] = field(default_factory=dict)
    settings: tuple[Setting[Any], ...] = ()
    switch: str = ""

    def __post_init__(self) -> None:
        if not self.switch:
            object.__setattr__(self, "switch", f"{self.name.partition('.')[0]}-webhook")
        if self.is_about_pods and not (self.object_selector or self.namespace_selector):
            raise MooringError(
                f"webhook {self.name} would be asked about every pod; narrow it with object_selector or "
                "namespace_selector"
            )

    @property
    def is_about_pods(self) -> bool:
        return any(rule.is_about_pods for rule in self.rules)


@dataclass(frozen=True, eq=False)
class Conversion:
    """The pure function that turns objects of a custom kind into another of its versions."""

    group: str
    kind: str
    plural: str
    convert: Callable[[Object, str], Object]

    @classmethod
    def of(cls, resource: CustomResource) -> Conversion:
        """The conversion that a custom resource with several versions declares."""
        return cls(resource.group, resource.kind, resource.plural, resource.convert)

    @property
    def definition(self) -> str:
        return f"{self.plural}.{self.group}"
