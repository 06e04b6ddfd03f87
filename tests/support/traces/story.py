"""A cluster in virtual time that is told what people and kubelets do, and writes down what its controllers do.

A trace has a line for each write that a controller sends: when, who, the verb with `u` and `v` where it depends on the
uid and the version that were seen, the object, and the body, which is the difference that the write makes. A refusal is
told behind it. Events are told in words. At the end of every run stand the moments that keys wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import timedelta
from typing import Any

from mooring.client.transport import EVERYTHING, Listed, Request, Scope, Stream, Transport
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.drivers.faults import Crash, Faults, calm
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.settings import DEFAULTS, Configuration
from tests.support.traces.wording import Wording

# Who runs pods is part of the stage.
UNTOLD = ("mooring-nodes", "mooring-stages")
# More keys that wait are only counted.
_TOLD_TIMERS = 12

Place = tuple[str, str, str]


class Story:
    """`silent` are managers whose writes are not told."""

    def __init__(
        self,
        controllers: Iterable[Controller],
        *objects: Object,
        seed: int = 0,
        silent: Collection[str] = UNTOLD,
        configuration: Configuration = DEFAULTS,
        faults: Faults | None = None,
    ) -> None:
        self.lines: list[str] = []
        self.wording = Wording()
        self._silent = silent
        self.registry = Registry(now=START, seed=seed)
        self.simulation = Simulation(
            controllers, registry=self.registry, seed=seed, faults=faults, configuration=configuration
        )
        self._faulty = self.simulation.transport
        self.simulation.transport = _Told(self.simulation.transport, self._tell)
        for obj in objects:
            self.create(obj)

    # What people do; what is refused is told

    def create(self, obj: Object) -> Object | None:
        resource = self.registry.resource(obj["apiVersion"], obj["kind"])
        namespace = obj["metadata"].get("namespace", "default") if resource.namespaced else None
        self.say(f"create {obj['kind']} {obj['metadata'].get('name', '')}")
        made = self._ask(lambda: self.registry.create(resource, obj, now=self.simulation.now, namespace=namespace))
        if made is not None:
            self.wording.meet(made)
        return made

    def patch(
        self,
        kind: str,
        name: str,
        body: Object,
        subresource: str = "",
        namespace: str = "default",
        *,
        by: str = "people",
        told: str = "",
    ) -> None:
        resource = self._resource(kind)
        where = namespace if resource.namespaced else ""
        self.say(told or f"patch {kind} {name}{'/' if subresource else ''}{subresource} {self.wording.body(body)}")
        now, registry = self.simulation.now, self.registry
        self._ask(
            lambda: registry.patch(resource, where, name, "merge", body, now=now, subresource=subresource, manager=by)
        )

    def delete(self, kind: str, name: str, namespace: str = "default", *, told: str = "", **options: Any) -> None:
        resource = self._resource(kind)
        said = "".join(f" {option}={value}" for option, value in sorted(options.items()))
        self.say(told or f"delete {kind} {name}{said}")
        where = namespace if resource.namespaced else ""
        now, registry = self.simulation.now, self.registry
        self._ask(lambda: registry.delete(resource, where, name, now=now, **options))

    def bind(self, pod: Object, node: str) -> None:
        meta = {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]}
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": target}
        self._ask(lambda: self.registry.bind(body, now=self.simulation.now))

    def add_node(self, node: Object) -> None:
        """A node that is ready to run pods: nobody here takes the taint away that a new one has."""
        self.create(node)
        self.patch(
            "Node",
            node["metadata"]["name"],
            {"spec": {"taints": node["spec"].get("taints") or None}},
            told="it is ready",
        )

    def evict(self, name: str, namespace: str = "default") -> None:
        self.say(f"evict {name}")
        self._ask(lambda: self.registry.evict(namespace, name, now=self.simulation.now))

    def _ask(self, ask: Callable[[], Object | None]) -> Object | None:
        try:
            return ask()
        except ApiError as error:
            self.say(f"refused: {self.wording.plain(str(error))}")
            return None

    def run(self, seconds: float) -> None:
        """Let this much time go by."""
        end = self.simulation.now + timedelta(seconds=seconds)
        self.simulation.run(timedelta(seconds=seconds))
        self.simulation.now = end
        timers = self.simulation.dispatcher.timers.all()
        told = [f"{request} +{(moment - self.simulation.now).total_seconds():g}" for moment, request in timers]
        told = sorted(each for each in told if not each.startswith("nodes "))
        more = f" and {len(told) - _TOLD_TIMERS} more" if len(told) > _TOLD_TIMERS else ""
        line = f"{self.elapsed():g} -- {', '.join(told[:_TOLD_TIMERS])}{more}".rstrip()
        if told or not self.lines[-1:] or " --" not in self.lines[-1]:
            self.lines.append(line)

    def quiet(self) -> None:
        """No more faults from here on."""
        self.say("no more faults")
        calm(self._faulty)

    # What there is

    def elapsed(self) -> float:
        return (self.simulation.now - START).total_seconds()

    def all(self, kind: str) -> list[Object]:
        return list(self.registry.list(self._resource(kind)).items)

    def names(self, kind: str) -> list[str]:
        return [obj["metadata"]["name"] for obj in self.all(kind)]

    def get(self, kind: str, name: str, namespace: str = "default") -> Object | None:
        resource = self._resource(kind)
        return self.registry.find(resource.api_version, kind, namespace if resource.namespaced else "", name)

    def say(self, text: str) -> None:
        self.lines.append(f"{self.elapsed():g} > {text}")

    def show(self, kind: str, *fields: str) -> None:
        """Tell what all objects of a kind say in a field, such as `status`."""
        for obj in self.all(kind):
            told = {field: obj[field] for field in fields if field in obj}
            self.lines.append(f"{self.elapsed():g} = {kind} {obj['metadata']['name']} {self.wording.body(told)}")

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def _resource(self, kind: str) -> Any:
        return next(each for each in self.registry.resources if each.kind == kind)

    def _tell(self, request: Request, answer: Object | None, error: Exception | None) -> None:
        if answer is not None:
            self.wording.meet(answer)
        if request.manager in self._silent:
            return
        refusal = "" if error is None else f" ! {self.wording.plain(str(error) or type(error).__name__)}"
        who = request.manager.removeprefix("mooring-")
        if request.kind == "Event":
            told = self._event(request)
        else:
            basis = ("u" if request.uid else "") + ("v" if request.resource_version else "")
            basis += "m" if request.metadata_only else ""
            options = f" {request.propagation}" if request.propagation else ""
            options += f" grace={request.grace}" if request.grace is not None else ""
            place = f"{request.namespace}/" if request.namespace not in ("", "default") else ""
            sub = f"/{request.subresource}" if request.subresource else ""
            told = f"{request.verb}{f'[{basis}]' if basis else ''} {request.kind} {place}{request.name}{sub}{options}"
            told += f" {self.wording.body(request.body)}" if request.body else ""
        self.lines.append(f"{self.elapsed():g} {who} {told}{refusal}")

    def _event(self, request: Request) -> str:
        body = request.body
        about = body["involvedObject"]
        times = f" x{body['count']}" if body["count"] > 1 else ""
        action = f" ({body['action']})" if "action" in body else ""
        labels = f" {body['metadata']['labels']}" if "labels" in body["metadata"] else ""
        message = self.wording.plain(body["message"])
        return (
            f"tells {body['type']} {body['reason']}{action}{times}{labels} {about['kind']} {about['name']}: {message}"
        )


class _Told:
    """A transport whose writes are told."""

    def __init__(self, inner: Transport, tell: Callable[[Request, Object | None, Exception | None], None]) -> None:
        self._inner, self._tell = inner, tell

    def get(self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False) -> Object:
        return self._inner.get(api_version, kind, namespace, name, metadata_only=metadata_only)

    def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> Listed:
        return self._inner.list(api_version, kind, scope)

    def watch(self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING) -> Stream:
        return self._inner.watch(api_version, kind, resource_version, scope)

    def write(self, request: Request) -> Object:
        try:
            answer = self._inner.write(request)
        except (MooringError, Crash) as error:
            self._tell(request, None, error)
            raise
        self._tell(request, answer, None)
        return answer
