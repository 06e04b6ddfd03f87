"""Installations that are drawn, and what the API says of each."""

from __future__ import annotations

from mooring.kube.objects import Object
from mooring.testing.installations import helm_chart, installation
from tests.features.drawn import World
from tests.support.golden import same_as_recorded


def whole_objects() -> dict[str, Object]:
    values = {"replicas": 2, "names": ["a", "b"], "image": {"tag": "1", "pull": None}, "ratio": 0.5, "on": True}
    return {
        "one chart": installation(
            "one",
            helm_chart(chart="kaito/workspace", values=values, skipCRDs=True),
            rollbackTo=2,
            timeoutSeconds=60,
            attempt=2,
            conflictsWith=["workspace"],
        ),
        "two charts": installation("two", helm_chart(), helm_chart("gpu", "v1.2.3-rc.1"), url="oci://r.example.com/c"),
    }


def test_every_drawn_installation_is_answered_as_recorded() -> None:
    same_as_recorded("installation", World().every_answer(whole_objects()))
