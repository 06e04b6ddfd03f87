"""Leases of nodes: where a kubelet renews them, and how long one holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

LEASE_NAMESPACE: Final = "kube-node-lease"
# How long a Lease holds without being renewed. Until then nothing is amiss, and waiting is only looking again.
LEASE_DURATION: Final = timedelta(seconds=40)
