"""The web page on a large cluster, in a real Chromium: what it loads, when it is drawn, and whether it stays smooth.

While pods come and go, every gap between two frames is noted by the page itself.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

import playwright.sync_api as playwright

from bench import rest
from bench.rows import Row
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.client.transport import Request
from tests.e2e.page.browser import browser

__all__ = ["measured", "rows"]

PER_SECOND: Final = 100
_SECONDS: Final = 10.0
_VISITS: Final = 3
_PATIENCE_MS: Final = 60_000
# Runs in the page before anything of its own: when the fleet is drawn, and the longest time between two frames.
_WATCH: Final = """
window.measured = { drawn: 0, gap: 0, frames: 0, busy: 0 }
let last = performance.now()
const frame = (now) => {
  const drawing = document.querySelector('main:not([aria-busy]) :is(.denses canvas, .node .quay)')
  if (!measured.drawn && drawing && drawing.clientHeight > 0) measured.drawn = now
  measured.gap = Math.max(measured.gap, now - last)
  measured.frames += 1
  last = now
  requestAnimationFrame(frame)
}
requestAnimationFrame(frame)
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) measured.busy = Math.max(measured.busy, task.duration)
}).observe({ type: 'longtask' })
"""


def rows(quick: bool) -> list[Row]:
    nodes, pods = (100, 1_000) if quick else (rest.NODES, rest.PODS)
    found = measured(nodes, pods, 2.0 if quick else _SECONDS)
    size = f"{nodes:,} nodes and {pods:,} pods"
    return [
        Row("the first page, gzipped", found["kB"], "kB", 100),
        Row(f"from its address to the fleet drawn, {size}", found["drawn"], "ms", 1_000),
        Row(f"longest frame while {PER_SECOND} pods/s change", found["gap"], "ms", 100),
    ]


def measured(nodes: int, pods: int, seconds: float) -> dict[str, float]:
    with rest.serving(nodes, pods) as server, browser() as chromium:
        # The first caller waits for the API server's lists, which the rows of the REST API measure.
        with _visit(chromium, server):
            pass
        drawn = []
        for _ in range(_VISITS):
            with _visit(chromium, server) as (page, size):
                drawn.append(_told(page)["drawn"])
        with _visit(chromium, server) as (page, size):
            page.wait_for_timeout(1_000)
            with _changing(server, nodes):
                page.wait_for_timeout(1_000)
                page.evaluate("Object.assign(measured, { gap: 0, busy: 0, frames: 0 })")
                page.wait_for_timeout(seconds * 1000)
                found = _told(page)
        return {**found, "kB": size / 1000, "drawn": min(drawn)}


def _told(page: playwright.Page) -> dict[str, float]:
    found: dict[str, float] = page.evaluate("measured")
    return found


@contextmanager
def _visit(chromium: playwright.Browser, server: rest.RestUnderTest) -> Iterator[tuple[playwright.Page, float]]:
    """A fresh profile that has the fleet before it, and how many bytes came for the page itself."""
    context = chromium.new_context(bypass_csp=True, viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.add_init_script(_WATCH)
        loaded: list[playwright.Request] = []
        page.on("requestfinished", lambda each: None if "/api/" in each.url else loaded.append(each))
        page.goto(f"{server.rest}/#token=any")
        page.wait_for_function("measured.drawn > 0", timeout=_PATIENCE_MS)
        yield page, float(sum(each.sizes()["responseBodySize"] for each in loaded))
    finally:
        context.close()


@contextmanager
def _changing(server: rest.RestUnderTest, nodes: int) -> Iterator[None]:
    """Pods that hold a GPU go, and come again elsewhere."""
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(lambda: asyncio.run(_change(server.api, nodes, stop)))
        try:
            yield
        finally:
            stop.set()
            worker.result()


async def _change(api: str, nodes: int, stop: threading.Event) -> None:
    transport = HttpTransport(Access(api))
    begin, number = time.monotonic(), 0
    while not stop.is_set():
        await asyncio.sleep(max(begin + number / PER_SECOND - time.monotonic(), 0))
        turn = (number // 2) % (8 * nodes)
        name = f"pod-{turn:05}"
        if number % 2 == 0:
            await transport.write(Request("delete", "v1", "Pod", "default", name, {}, grace=0))
        else:
            body = rest.pod(turn, nodes)
            await transport.write(Request("create", "v1", "Pod", "default", name, body))
        number += 1
    await transport.close()
