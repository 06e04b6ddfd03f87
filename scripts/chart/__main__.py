"""Writes the made parts of charts/mooring; with --check only says what differs: python -m scripts.chart

What is written by hand there (values.yaml, the Deployments and Services) takes names and choices from these parts.
"""

from __future__ import annotations

import sys

from scripts.chart.files import COMMAND, texts
from scripts.made import write_or_check

if __name__ == "__main__":
    sys.exit(write_or_check(texts(), COMMAND))
