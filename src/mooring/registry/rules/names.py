"""What is wrong with a name, for the kinds whose names follow another rule than most.

Each function takes a name, and whether it is only the beginning of one.
"""

from mooring.kube.names import is_dns1035_label, is_dns1123_label, is_long_name, path_segment_texts

__all__ = ["any_text", "label_name", "long_name", "path_segment", "service_name"]


def label_name(name: str, prefix: bool) -> list[str]:
    return is_dns1123_label(_masked(name) if prefix else name)


def long_name(name: str, prefix: bool) -> list[str]:
    return is_long_name(name, prefix=prefix)


def service_name(name: str, prefix: bool) -> list[str]:
    return is_dns1035_label(_masked(name) if prefix else name)


def _masked(prefix: str) -> str:
    """A prefix may end in a dash, because more will follow."""
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def path_segment(name: str, prefix: bool) -> list[str]:
    return path_segment_texts(name, prefix=prefix)


def any_text(name: str, prefix: bool) -> list[str]:
    return []
