"""Log lines as JSON objects: a sentence for people, and fields to search by."""

from __future__ import annotations

import json
import logging

logger = logging.getLogger("mooring.runtime")
# A library is silent until the application configures logging.
logger.addHandler(logging.NullHandler())


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, message, and whatever stands under `fields`."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": self.formatTime(record), "level": record.levelname.lower(), "message": record.getMessage()}
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def say(level: int, message: str, **fields: object) -> None:
    if logger.isEnabledFor(level):
        logger.log(level, message, extra={"fields": fields})
