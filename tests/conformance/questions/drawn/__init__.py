"""What is drawn, by the names of the files that the answers are kept in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tests.conformance.questions.drawn import (
    access,
    deletions,
    nodes,
    podsecurity,
    quotas,
    reads,
    requests,
    rights,
    services,
    sparse,
    tables,
    watches,
    webhooks,
)
from tests.conformance.questions.stories import Step

Stories = Mapping[str, list[Step]]


class Drawn(NamedTuple):
    """Makes stories by their names; of some the events of the audit log are kept too, and what webhooks are asked."""

    stories: Callable[[], Stories]
    audited: bool = False
    hooked: bool = False


DRAWN: Mapping[str, Drawn] = {
    "rights": Drawn(rights.stories),
    "access": Drawn(access.stories, audited=True),
    "nodes": Drawn(nodes.stories),
    "quotas": Drawn(quotas.stories),
    "reads": Drawn(reads.stories),
    "requests": Drawn(requests.stories, audited=True),
    "tables": Drawn(tables.stories),
    "watches": Drawn(watches.stories),
    "webhooks": Drawn(webhooks.stories, audited=True, hooked=True),
    "deletions": Drawn(deletions.stories),
    "services": Drawn(services.stories),
    "podsecurity": Drawn(podsecurity.stories),
    "sparse": Drawn(sparse.stories),
}
