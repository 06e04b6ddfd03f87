"""All API semantics, without I/O: what an API server does between a request and its storage."""

from mooring.registry.admission.chain import Admission, AdmissionRequest, ClusterView
from mooring.registry.lists import ListResult
from mooring.registry.registry import Registry
from mooring.registry.resources import Resource, Resources
from mooring.registry.storage import CheckedStorage, MemoryStorage, Storage
from mooring.registry.watch import Watch, WatchEvent

__all__ = [
    "Admission",
    "AdmissionRequest",
    "CheckedStorage",
    "ClusterView",
    "ListResult",
    "MemoryStorage",
    "Registry",
    "Resource",
    "Resources",
    "Storage",
    "Watch",
    "WatchEvent",
]
