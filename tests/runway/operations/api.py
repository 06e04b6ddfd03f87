"""An API server of a few dictionaries, for tests of what is asked of one and in which order."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping

from mooring.client.transport import EVERYTHING, Batch, Page, Request, Scope
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.selectors import parse_selector
from mooring.kube.status import AlreadyExistsError, NotFoundError

Refusal = Callable[[Request], MooringError | None]


class SmallApi:
    """`refuse` is asked before every write. Kinds that are not in `served` are not there."""

    def __init__(self, *objects: Object, refuse: Refusal = lambda request: None, served: frozenset[str] | None = None):
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.requests: list[tuple[str, str, str]] = []
        self._refuse, self._served = refuse, served
        self._next = 0
        for obj in objects:
            self._store(obj)

    def _store(self, obj: Object) -> Object:
        self._next += 1
        metadata = {"uid": f"uid-{self._next}", **obj["metadata"]}
        stored = {**obj, "metadata": metadata}
        self.objects[obj["kind"], metadata.get("namespace", ""), metadata["name"]] = stored
        return stored

    async def get(
        self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
    ) -> Object:
        if (kind, namespace, name) not in self.objects:
            raise NotFoundError.of(kind, "", name)
        return self.objects[kind, namespace, name]

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        if self._served is not None and kind not in self._served:
            raise NotFoundError(f'no matches for kind "{kind}"')
        wanted = parse_selector(scope.labels)
        name = scope.fields.removeprefix("metadata.name=")
        found = [
            obj
            for (its_kind, namespace, its_name), obj in self.objects.items()
            if its_kind == kind
            and scope.namespace in ("", namespace)
            and name in ("", its_name)
            and wanted.matches(obj["metadata"].get("labels") or {})
        ]
        yield Page(found, "1")

    def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        raise NotImplementedError

    async def write(self, request: Request) -> Object:
        self.requests.append((request.verb, request.kind, request.name))
        if error := self._refuse(request):
            raise error
        key = (request.kind, request.namespace, request.name)
        if request.verb == "create":
            if key in self.objects:
                raise AlreadyExistsError(f'"{request.name}" already exists')
            return self._store(request.body)
        assert self.objects[key]["metadata"]["uid"] == request.uid
        return self.objects.pop(key)

    async def log(self, namespace: str, pod: str, query: Mapping[str, str]) -> str:
        return f"{namespace}/{pod} {dict(query)}"

    async def close(self) -> None:
        pass
