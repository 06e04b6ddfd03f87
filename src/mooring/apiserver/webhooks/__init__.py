"""Foreign webhooks: the API server asks them about writes, and lets them convert custom kinds."""

from mooring.apiserver.webhooks.pending import Pending
from mooring.apiserver.webhooks.webhooks import Webhooks

__all__ = ["Pending", "Webhooks"]
