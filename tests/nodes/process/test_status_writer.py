"""Statuses and events reach the API while others write."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mooring.nodes.process.kubelet import EVENT_COMPONENT
from mooring.nodes.process.pods.references import reference_to
from mooring.nodes.process.pods.status_writer import StatusWriter
from mooring.runtime.events.broadcaster import EventBroadcaster
from mooring.runtime.events.recorder import EventRecorder
from tests.nodes.process.home import LINUX, NODE, Home, play, shell

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")


def test_a_status_gets_through_while_others_write_to_the_pod(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        at.pod("busy", shell("true"), restartPolicy="Never")
        resource = at.registry.resource("v1", "Pod")
        number = 0
        while at.get("busy")["status"].get("phase") != "Succeeded":
            number += 1
            body = {"metadata": {"annotations": {"number": str(number)}}}
            at.registry.patch(resource, "default", "busy", "merge", body, now=datetime.now(UTC))
            await asyncio.sleep(0)
        assert number > 3
        assert at.get("busy")["metadata"]["annotations"] == {"number": str(number)}

    play(story, tmp_path, problem="none")


def test_nothing_is_written_to_another_pod_that_has_the_name_by_now(tmp_path: Path) -> None:
    async def main() -> None:
        at = Home(tmp_path, "")
        first = at.pod("web", shell("true"))
        at.delete("web", grace=0)
        second = at.pod("web", shell("true"))
        told: list[str] = []
        # It is asked for one status, and for no other once the pod is known to be gone.
        statuses = iter([{"phase": "Failed"}])
        writer = StatusWriter(
            at.transport,
            pod=lambda: first,
            status=lambda: next(statuses),
            seen=lambda found: told.append(found["metadata"]["uid"]),
            gone=lambda: told.append("gone"),
        )
        await writer.flush()
        assert told == ["gone"]
        assert at.get("web") == second

    asyncio.run(main())


def test_the_same_thing_said_again_is_counted(tmp_path: Path) -> None:
    async def main() -> None:
        at = Home(tmp_path, "")
        pod = at.pod("web", shell("true"))
        recorder = EventRecorder(EVENT_COMPONENT, NODE)
        broadcaster = EventBroadcaster(at.transport)
        for _ in range(3):
            about = reference_to(pod, "Pod", "main")
            request = recorder.request(about, "Warning", "BackOff", "again", datetime.now(UTC))
            assert request is not None
            broadcaster.add([request])
        writing = asyncio.create_task(broadcaster.run())
        await broadcaster.finish()
        writing.cancel()
        (event,) = at.registry.list(at.registry.resource("v1", "Event")).items
        assert (event["count"], event["message"]) == (3, "again")
        assert event["involvedObject"]["fieldPath"] == "spec.containers{main}"
        assert event["source"] == {"component": "process-node", "host": NODE}

    asyncio.run(main())
