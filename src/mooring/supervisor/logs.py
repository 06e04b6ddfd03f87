"""How the processes of `mooring up` log: one JSON object a line, which their parent keeps and looks through."""

from __future__ import annotations

import logging
import sys

from mooring.runtime.logs import JsonFormatter

__all__ = ["log_as_json", "tell_parent"]

_log = logging.getLogger("mooring.up")


def log_as_json() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def tell_parent(news: str, message: str) -> None:
    """Something that happened and that people may want to know."""
    _log.info(message, extra={"fields": {"news": news}})
