"""Numbers that people write as such or as a percentage of a whole: `1`, `"25%"`."""

from __future__ import annotations

IntOrPercent = int | str
