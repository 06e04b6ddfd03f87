"""Reading and writing manifests: the files people keep, and what kubectl prints of a whole cluster."""

from mooring.manifests.documents import (
    Document,
    Views,
    read_manifest_stream,
    read_manifests,
    read_objects,
    read_views,
)
from mooring.manifests.errors import ManifestError

__all__ = [
    "Document",
    "ManifestError",
    "Views",
    "read_manifest_stream",
    "read_manifests",
    "read_objects",
    "read_views",
]
