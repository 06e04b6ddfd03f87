"""Watches: every line that clients get, in which part and when, until the watch ends or they go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mooring.kube.objects import Object
from tests.apiserver.alone import Alone, Client, play
from tests.support.golden import same_as_recorded

MAPS = "/api/v1/namespaces/default/configmaps"
ALL_MAPS = "/api/v1/configmaps"
PODS = "/api/v1/namespaces/default/pods"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
INITIAL = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
AT_ONCE = Client(pushed=True)
CANNOT = Client(pushed=False)

Tell = Callable[[Alone], Awaitable[None]]


def config(name: str, **data: str) -> Object:
    labels = {"labels": {"kind": data.pop("kind")}} if "kind" in data else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **labels}, "data": data}


def create(server: Alone, obj: Object, kind: str = "ConfigMap") -> None:
    server.registry.create(server.registry.resource("v1", kind), obj, now=server.now)


def change(server: Alone, name: str, **labels: str) -> None:
    resource = server.registry.resource("v1", "ConfigMap")
    patch = {"metadata": {"labels": labels}, "data": {"changed": str(server.registry.revision)}}
    server.registry.patch(resource, "default", name, "merge", patch, now=server.now)


def delete(server: Alone, name: str) -> None:
    server.registry.delete(server.registry.resource("v1", "ConfigMap"), "default", name, now=server.now)


async def changes(server: Alone) -> None:
    """What happens while clients watch, each a second after the one before."""
    create(server, config("a", x="1", kind="good"))
    await asyncio.sleep(1.0)
    create(server, config("b"))
    await asyncio.sleep(1.0)
    change(server, "b", kind="good")
    await asyncio.sleep(1.0)
    change(server, "a", kind="bad")
    await asyncio.sleep(1.0)
    delete(server, "b")
    create(server, config("b", y="2"))
    delete(server, "b")


def watching(
    query: str, *, path: str = MAPS, accept: str = "", client: Client | None = None, also: Any = changes
) -> Tell:
    async def tell(server: Alone) -> None:
        headers = {"accept": accept} if accept else {}
        watch = asyncio.create_task(server.ask("GET", f"{path}?watch=true&{query}", headers=headers, client=client))
        await asyncio.sleep(0.5)
        if also is not None:
            await also(server)
        await watch

    return tell


async def bursts(server: Alone) -> None:
    """Changes within milliseconds of each other, and many of them at once."""
    for number in range(6):
        create(server, config(f"burst-{number}"))
        await asyncio.sleep(0.004)
    for number in range(250):
        create(server, config(f"many-{number}"))
    await asyncio.sleep(0.1)
    for number in range(3):
        create(server, config(f"large-{number}", x="x" * (40 * 1024)))


async def two_clients(server: Alone) -> None:
    await asyncio.gather(
        watching("timeoutSeconds=5&resourceVersion=0", client=AT_ONCE)(server),
        server.ask("GET", f"{ALL_MAPS}?watch=true&timeoutSeconds=3&labelSelector=kind%3Dgood", client=CANNOT),
        server.ask("GET", f"{MAPS}?watch=true&timeoutSeconds=4", headers={"accept": METADATA}),
        counted(server),
    )
    # Nothing says which of several clients hears of a change first.
    server.notes.lines.sort()


async def counted(server: Alone) -> None:
    await asyncio.sleep(1.2)
    lines = server.app._metrics_text().split("\n")
    server.notes(*[line for line in lines if line.startswith("apiserver_longrunning_requests")])


async def stopping(server: Alone) -> None:
    create(server, config("a"))
    await asyncio.sleep(1.0)
    server.app.stop()
    server.notes("the server stops")


async def definition_of_nothing_goes(server: Alone) -> None:
    """No object tells of it, because there is none."""
    await definition_goes(server, of_something=False)


async def definition_goes(server: Alone, *, of_something: bool = True) -> None:
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version: Object = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec: Object = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    await server.make(DEFINITIONS, {"metadata": {"name": "widgets.example.com"}, "spec": spec})
    watch = asyncio.create_task(server.ask("GET", f"{WIDGETS}?watch=true"))
    other = asyncio.create_task(server.ask("GET", f"{MAPS}?watch=true&timeoutSeconds=20"))
    await asyncio.sleep(1.0)
    if of_something:
        await server.ask(
            "POST", WIDGETS, b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"size":1}'
        )
    await asyncio.sleep(1.0)
    server.notes("the definition goes")
    await server.ask("DELETE", f"{DEFINITIONS}/widgets.example.com")
    await asyncio.gather(watch, other)


async def from_now_on(server: Alone) -> None:
    """From the newest revision, and from the one that is not there yet."""
    now = server.registry.revision
    await server.ask("GET", f"{MAPS}?watch=true&resourceVersion={now + 1}")
    await watching(f"timeoutSeconds=5&resourceVersion={now}")(server)


async def history_is_over(server: Alone) -> None:
    """A client that reads nothing falls behind what is remembered, and one that comes back late does, too."""
    create(server, config("first"))
    old = server.registry.revision
    slow = asyncio.create_task(
        server.ask("GET", f"{MAPS}?watch=true&timeoutSeconds=60&resourceVersion=0", client=Client(slow=10.0))
    )
    await asyncio.sleep(1.0)
    for number in range(40):
        create(server, config(f"c-{number}"))
        await asyncio.sleep(0.1)
    await server.ask("GET", f"{MAPS}?watch=true&resourceVersion={old}")
    await server.ask("GET", f"{MAPS}?watch=true&resourceVersion={old}", headers={"accept": TABLE})
    await server.ask(
        "GET", f"{MAPS}?watch=true&resourceVersion={old}", headers={"accept": "application/vnd.kubernetes.protobuf"}
    )
    await slow


async def nobody_is_left(server: Alone) -> None:
    """When the last client has gone, nothing is kept for it."""
    await watching("timeoutSeconds=2", client=Client(leaves=1.0))(server)
    assert not server.app.watches._broadcasters
    create(server, config("unseen"))
    await asyncio.sleep(1.0)
    await watching("timeoutSeconds=1", also=None)(server)


async def fails(server: Alone) -> None:
    """A watch whose lines cannot be made ends with an error in the stream."""

    def broken(*_: object) -> bytes:
        raise ValueError("no line")

    server.app.watches._encoder.encode_shared = broken  # type: ignore[method-assign, assignment]
    watch = asyncio.create_task(server.ask("GET", f"{MAPS}?watch=true&timeoutSeconds=9"))
    await asyncio.sleep(0.5)
    create(server, config("a"))
    await watch


async def pods(server: Alone) -> None:
    for name, node in (("one", "n1"), ("two", "")):
        spec: Object = {"containers": [{"name": "c", "image": "x"}], **({"nodeName": node} if node else {})}
        create(server, {"metadata": {"name": name}, "spec": spec}, "Pod")
    await asyncio.sleep(1.0)
    server.registry.bind(
        {"metadata": {"name": "two", "namespace": "default"}, "target": {"kind": "Node", "name": "n1"}}, now=server.now
    )


SIMPLE = {
    query: watching(query)
    for query in (
        "timeoutSeconds=5",
        "timeoutSeconds=2",
        "timeoutSeconds=5&resourceVersion=0",
        "timeoutSeconds=5&resourceVersion=1",
        "timeoutSeconds=5&resourceVersion=999999",
        "resourceVersion=x",
        "timeoutSeconds=x",
        "limit=x",
        "timeoutSeconds=5&limit=1",
        "timeoutSeconds=5&labelSelector=kind%3Dgood",
        "timeoutSeconds=5&labelSelector=kind!%3Dgood",
        "labelSelector=%3D%3D",
        "timeoutSeconds=5&fieldSelector=metadata.name%3Db",
        "timeoutSeconds=5&fieldSelector=metadata.name%3Db&fieldSelector=metadata.namespace%3Dx",
        "fieldSelector=spec.x%3Db",
        f"timeoutSeconds=5&{INITIAL}",
        f"timeoutSeconds=5&{INITIAL}&resourceVersion=0",
        "timeoutSeconds=5&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
        "timeoutSeconds=5&sendInitialEvents=true",
        "timeoutSeconds=5&resourceVersionMatch=Exact",
        "timeoutSeconds=150&allowWatchBookmarks=true",
        "timeoutSeconds=60&allowWatchBookmarks=true",
        "timeoutSeconds=-1",
        "timeoutSeconds=0",
        "",
    )
}
FORMS = {
    f"{name} {query}": watching(f"timeoutSeconds=70&{query}", accept=accept)
    for name, accept in {
        "rows": TABLE,
        "metadata": METADATA,
        "protobuf": "application/vnd.kubernetes.protobuf",
        "protobuf stream": "application/vnd.kubernetes.protobuf;stream=watch",
        "json stream": "application/json;stream=watch",
        "yaml": "application/yaml",
        "text": "text/plain",
    }.items()
    for query in (
        "allowWatchBookmarks=true",
        "resourceVersion=0",
        "includeObject=None",
        "includeObject=Object",
        "resourceVersion=99999",
    )
}
STORIES: dict[str, Tell] = {
    "a client to whom parts are sent at once": watching("timeoutSeconds=5", client=AT_ONCE),
    "a client to whom nothing is sent at once": watching("timeoutSeconds=5", client=CANNOT),
    "a client that is slow": watching("timeoutSeconds=9&resourceVersion=0", client=Client(slow=1.5, pushed=False)),
    "a client that goes": watching("timeoutSeconds=9", client=Client(leaves=2.2)),
    "a client that goes while nothing happens": watching("", client=Client(leaves=700.0), also=None),
    "bursts": watching("timeoutSeconds=5", also=bursts),
    "bursts that are sent at once": watching("timeoutSeconds=5", also=bursts, client=AT_ONCE),
    "bursts for one that is slow": watching("timeoutSeconds=5", also=bursts, client=Client(slow=0.3, pushed=False)),
    "bursts of others": watching("timeoutSeconds=5&fieldSelector=metadata.name%3Dmany-249", also=bursts),
    "two clients": two_clients,
    "pods of a node": watching("timeoutSeconds=5&fieldSelector=spec.nodeName%3Dn1", path=PODS, also=pods),
    "rows of pods": watching("timeoutSeconds=5", path=PODS, also=pods, accept=TABLE),
    "one of another namespace": watching("timeoutSeconds=5", path=MAPS.replace("default", "other")),
    "of all namespaces": watching("timeoutSeconds=5", path=ALL_MAPS),
    "of one by its path": watching("timeoutSeconds=5", path=f"{MAPS}/a"),
    "of a kind that is not there": watching("timeoutSeconds=5", path=MAPS.replace("configmaps", "maps")),
    "the server stops": watching("timeoutSeconds=50", also=stopping),
    "from now on": from_now_on,
    "a definition goes": definition_goes,
    "a definition of nothing goes": definition_of_nothing_goes,
    "nobody is left": nobody_is_left,
    "a line cannot be made": fails,
}


def test_watches_tell_what_they_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without a timeout, a watch ends after half an hour and this share of it.
    monkeypatch.setattr("mooring.apiserver.watches.open_watches.random.random", lambda: 0.25)
    stories = {**SIMPLE, **FORMS, **STORIES}

    def told(tell: Tell, **options: Any) -> str:
        async def story(server: Alone) -> str:
            create(server, config("old", kind="good"))
            await tell(server)
            return server.notes.taken()

        return str(play(story, **options))

    found = {name: told(tell) for name, tell in stories.items()}
    found["what is remembered is over"] = told(history_is_over, history_limit=10)
    same_as_recorded("server-watches", found)
