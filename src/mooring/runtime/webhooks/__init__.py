"""Webhooks as pure functions: declared next to controllers, called directly or over HTTPS, the same in every home.

`model` has what authors write, `direct` puts webhooks into a registry in the same process, and `server` serves them to
a real API server, with certificates that it makes, renews and writes into the configurations. The last is imported by
name: the embedded API server, which must start fast, does without it.
"""

from mooring.runtime.webhooks.direct import install
from mooring.runtime.webhooks.model import Absent, Admitted, Conversion, Denied, Rule, Webhook, WebhookRequest, absent

__all__ = [
    "Absent",
    "Admitted",
    "Conversion",
    "Denied",
    "Rule",
    "Webhook",
    "WebhookRequest",
    "absent",
    "install",
]
