"""What is asked for when a pod's log is shown: its end, and no more of it than a process and a page can hold."""

from typing import Final

__all__ = ["pod_log_query"]

_MAX_BYTES: Final = 2 << 20


def pod_log_query(lines: int, container: str, timestamps: bool) -> dict[str, str]:
    """The query of a request for the last lines of a log."""
    query = {"tailLines": str(lines), "limitBytes": str(_MAX_BYTES)}
    if container:
        query["container"] = container
    if timestamps:
        query["timestamps"] = "true"
    return query
