"""Status that describes and that nobody decides on: a simulation whose end alone counts may write it at the end.

The dispatcher knows every reader, since reads are subscriptions.
"""

from __future__ import annotations

from mooring.api.kinds import Key
from mooring.client.transport import Request
from mooring.runtime.dispatcher.state import DispatcherState
from mooring.runtime.dispatcher.task import ReconcileRequest, Task


def is_unread_status(state: DispatcherState, task: Task) -> bool:
    """Whether all that a task writes is status on which no key decides, neither its own nor another."""
    if not (task.final and task.stages):
        return False
    writes = [write for stage in task.stages for write in stage]
    return all(write.subresource == "status" and not _is_read(state, write, task.request) for write in writes)


def _is_read(state: DispatcherState, write: Request, writer: ReconcileRequest) -> bool:
    """Whether anybody but its writer reads the status of an object."""
    kind = state.names[write.api_version, write.kind]
    subscriptions = state._subscriptions
    asking = subscriptions.keys.get((kind, Key(write.namespace, write.name)), ())
    return (
        state.stores.views_of(kind) != (kind,)
        or kind in subscriptions.listed
        or any(request != writer for request in asking)
        or any(kind not in fold.without_status for fold in state._folds_of.get(kind, ()))
    )
