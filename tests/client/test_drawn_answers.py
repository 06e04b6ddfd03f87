"""What the client sends again, when, and what it says in the end, for every question and a great many answers.

Each question meets each answer first, and drawn ones after it. A write goes out once, or once more after new
credentials; whatever comes back, there is an answer or an error of ours, and no connection stays open.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from random import Random
from typing import Any

from mooring.client.access import Access
from mooring.client.download import download
from mooring.client.http import HttpTransport
from mooring.client.transport import Batch, Page, Request, Scope, plain
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from tests.client.wires import REFUSED, Network, Reply
from tests.support.golden import same_as_recorded
from tests.support.virtual_time import in_virtual_time

SERVER = "http://server:8080/k8s"
REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def http(status: int, body: str | bytes = "", *, length: bool = True, **headers: str) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} So", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    if length:
        lines.append(f"Content-Length: {len(data)}")
    return "\r\n".join([*lines, "", ""]).encode() + data


def refusal(status: int, **more: Any) -> str:
    return json.dumps({"kind": "Status", "code": status, "reason": REASONS.get(status, ""), "message": "no", **more})


def found(method: str, path: str) -> Reply:
    """What a server that works answers."""
    place = path.partition("?")[0].removeprefix("/k8s")
    obj: Object = {"kind": "Thing", "metadata": {"name": "n", "uid": "u1", "resourceVersion": "7"}}
    if place == "/apis/own.io/v1":
        names = [{"name": "things", "kind": "Thing", "namespaced": True}, {"name": "things/status", "kind": "Thing"}]
        return Reply("found", http(200, json.dumps({"resources": names})))
    if "watch=1" in path:
        lines = [json.dumps({"type": kind, "object": obj}) for kind in ("ADDED", "BOOKMARK", "DELETED")]
        return Reply("found", http(200, "\n".join(lines) + "\n"))
    if "limit=" in path:
        more = "" if "continue=" in path else "next"
        listed = {"metadata": {"resourceVersion": "9", "continue": more}, "items": [obj]}
        return Reply("found", http(200, json.dumps(listed)))
    if place.endswith(("/binding", "/eviction")):
        return Reply("found", http(201, json.dumps({"kind": "Status", "status": "Success"})))
    return Reply("found", http(201 if method == "POST" else 200, json.dumps({**obj, "gitVersion": "v1.35.0"})))


def replies() -> list[Reply]:
    """Everything that servers, proxies and networks have been seen to do, and some more."""
    every = [Reply(f"{status}", http(status, refusal(status))) for status in (*REASONS, 413, 507)]
    every += [
        Reply(f"{status} wait {after or 'nothing'}", http(status, refusal(status), Retry_After=after))
        for status in (429, 503)
        for after in ("0", "3", "45", "soon", "-1", "")
    ]
    in_details = refusal(429, details={"retryAfterSeconds": 11})
    odd: list[Any] = [[1], "text", None, {}, {"message": 5}, {"code": "x"}, {"details": "x"}, {"reason": ["x"]}]
    odd += [{"details": {"causes": "x"}}, {"details": {"causes": [{"field": "spec.a"}]}}]
    odd += [{"details": {"retryAfterSeconds": "x"}}, {"details": {"causes": [1]}}, {"message": "a\x1b[2J\nb"}]
    every += [
        Reply(f"{status} {json.dumps(each)}", http(status, json.dumps(each)))
        for status in (200, 429, 500)
        for each in odd
    ]
    every.append(Reply("500 of odd metadata", http(500, '{"metadata":1}')))
    deleted = {"kind": "Status", "status": "Success", "details": {"uid": "u9"}}
    bound = {"kind": "Status", "metadata": {"resourceVersion": "8"}}
    every += [
        Reply("429 wait in details", http(429, in_details, Retry_After="2")),
        Reply("410 goes on", http(410, refusal(410, metadata={"continue": "again"}))),
        Reply("200 gone", http(200, json.dumps(deleted))),
        Reply("200 gone without a name", http(200, json.dumps({"kind": "Status"}))),
        Reply("201 bound", http(201, json.dumps(bound))),
        Reply("502 a page", http(502, "<html>\n" + "x" * 300)),
        Reply("500 bytes", http(500, b"\xff\xfe")),
        Reply("500 with nothing", http(500)),
        Reply("200 half", http(200, '{"kind"')),
        Reply("302", http(302, "", Location="/login")),
        Reply("100 first", b"HTTP/1.1 100 Continue\r\n\r\n" + http(200, "{}")),
        Reply("101", http(101, Upgrade="x", Connection="upgrade", length=False)),
        Reply("no HTTP", b"SSH-2.0\r\n", cuts=True),
        Reply("cut", cuts=True),
        Reply("cut in the head", b"HTTP/1.1 200 OK\r\nCont", cuts=True),
        Reply("cut in the body", http(200, "{}")[:-1], cuts=True),
        Reply("until the end", http(200, '{"metadata":{}}\n', length=False), cuts=True),
        Reply("closes after", http(200, "{}\n", Connection="close")),
        Reply("closes unsaid", http(200, "{}\n"), cuts=True),
        Reply("silent", after=90_000),
        Reply("late", http(200, "{}\n"), after=29),
        Reply("too late", http(200, "{}\n"), after=31),
        Reply("slowly", http(200, "{}\n")[:-2], rest=b"}\n", later=20),
        Reply("too slowly", http(200, "{}\n")[:-2], rest=b"}\n", later=75),
        REFUSED,
    ]
    lines = [
        '{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"old"}}',
        '{"type":"ERROR","object":{"details":"x"}}',
        '{"type":"ERROR","object":[]}',
        '{"type":"ADDED","object":{}}',
        '{"type":"ADDED","object":{"metadata":{}}}',
        '{"type":"ADDED","object":{"metadata":{"resourceVersion":"12"}}}\n{"type":"ADDED"',
        '{"object":{}}',
        "nonsense",
    ]
    return every + [Reply(f"lines {line}", http(200, line + "\n")) for line in lines]


OWN, POD = ("own.io/v1", "Thing"), ("v1", "Pod")
BODY: Object = {"metadata": {"name": "n", "labels": {"a": "é <b>"}}, "spec": {"n": 1}}

Asked = Callable[[HttpTransport], Awaitable[Any]]


async def everything(coming: AsyncGenerator[Any]) -> str:
    return " ".join([shown(each) async for each in coming])


def shown(each: Any) -> str:
    match each:
        case Page(items, version):
            return f"{[plain(item) for item in items]} at {version!r}"
        case Batch(changes, version):
            return f"{[(change.type, plain(change.object)) for change in changes]} at {version!r}"
    return repr(each)


def writes() -> dict[str, Request]:
    verbs: list[tuple[Any, dict[str, Any]]] = [
        ("create", {"manager": "m"}),
        ("create", {"subresource": "token", "metadata_only": True}),
        ("apply", {"manager": "m", "uid": "u1"}),
        ("apply", {"manager": "m", "subresource": "status", "resource_version": "3", "metadata_only": True}),
        ("patch", {"uid": "u1", "resource_version": "3"}),
        ("patch", {}),
        ("patch", {"subresource": "finalize", "manager": "m", "uid": "u1"}),
        ("delete", {}),
        ("delete", {"uid": "u1", "resource_version": "3", "propagation": "Orphan", "grace": 0}),
        ("delete", {"uid": "u2", "metadata_only": True}),
        ("bind", {"uid": "u1", "manager": "m"}),
        ("bind", {}),
        ("evict", {"uid": "u1", "grace": 0}),
        ("evict", {}),
    ]
    return {
        " ".join([verb, *(f"{name}={value}" for name, value in more.items())]): Request(
            verb, *POD, "s/p", "n", BODY, **more
        )
        for verb, more in verbs
    }


def questions() -> dict[str, Asked]:
    asked: dict[str, Asked] = {
        "version": lambda it: it.version(),
        "get": lambda it: it.get(*POD, "s", "n"),
        "get of own kind": lambda it: it.get(*OWN, "s", "n", metadata_only=True, subresource="status"),
        "get of no kind": lambda it: it.get("own.io/v1", "Nothing", "s", "n"),
        "log": lambda it: it.log("s", "n", {"tailLines": "5", "container": ""}),
        "proxied": lambda it: it.proxied("s", "n", 80, "metrics", 12),
        "list": lambda it: everything(it.list(*POD)),
        "list of some": lambda it: everything(it.list(*POD, Scope("s", "a=b,c", "x=y", True))),
        "watch": lambda it: everything(it.watch(*POD, "5")),
        "watch of some": lambda it: everything(it.watch(*OWN, "5", Scope("s", "a=b", "x=y", True))),
        "patch": lambda it: it.patch(*POD, "s", "n", "application/json-patch+json", [{"op": "test"}], "m", "status"),
    }
    asked |= {name: lambda it, request=request: it.write(request) for name, request in writes().items()}  # type: ignore[misc]
    asked["fenced create"] = lambda it: it.fenced(lambda: False).write(writes()["create manager=m"])
    asked["fenced get"] = lambda it: it.fenced(lambda: False).get(*POD, "s", "n")
    return asked


async def outcome(asked: Awaitable[Any]) -> str:
    try:
        return f"= {await asked}"
    except ApiError as error:
        return f"! {type(error).__name__} {error.code} {error.reason} {error.retry_after}: {error.message!r}"
    except MooringError as error:
        return f"! {type(error).__name__}: {error!s}"


async def told(question: str, asked: Asked, coming: list[Reply], renewals: int) -> str:
    token = 0

    async def refresh() -> bool:
        nonlocal token
        token += 1
        return token <= renewals

    network = Network(coming, found)
    asyncio.get_running_loop().create_connection = network.connect  # type: ignore[method-assign,assignment]
    access = Access(SERVER, headers=lambda: {"Authorization": f"{token}"}, refresh=refresh)
    transport = HttpTransport(access, draw=Random(7))
    said = await outcome(asked(transport))
    assert len([each for each in network.wires if not each.closed]) <= 1, question
    sent = [each for each in network.told if "nobody" not in each and " GET " not in each]
    assert len(sent) <= 1 + any("401" in each.name for each in coming), sent
    again = await outcome(transport.get(*POD, "s", "again"))
    await transport.close()
    assert all(each.closed for each in network.wires), question
    return "\n".join([*network.told, said, again])


async def asked_of_all(question: str, asked: Asked, draw: Random) -> dict[str, str]:
    every, said = replies(), {}
    for first in every:
        for renewals in (0, 1) if first.name == "401" else (draw.randrange(2),):
            coming = [first, *draw.choices(every, k=draw.choice((0, 0, 1, 3)))]
            if first.name.startswith("429") and draw.random() < 0.3:
                coming = [first] * 7
            name = f"{question}: {', '.join(each.name for each in coming)}; {renewals} renewals"
            said[name] = await told(question, asked, coming, renewals)
    return said


async def downloaded(draw: Random) -> dict[str, str]:
    said = {}
    for reply in replies():
        network = Network([reply], found)
        asyncio.get_running_loop().create_connection = network.connect  # type: ignore[method-assign,assignment]
        what = await outcome(everything(download(Access(SERVER), "/file", draw.choice((5.0, 30.0)))))
        assert all(each.closed for each in network.wires), reply.name
        said[f"download: {reply.name}"] = "\n".join([*network.told, what])
    return said


def test_every_question_gets_an_answer_or_a_sentence_whatever_the_server_does() -> None:
    said: dict[str, str] = {}
    for number, (question, asked) in enumerate(questions().items()):
        said |= in_virtual_time(asked_of_all(question, asked, Random(number)))
    said |= in_virtual_time(downloaded(Random(99)))
    same_as_recorded("client-answers", said)
