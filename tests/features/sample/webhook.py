"""What no node could give is refused when it is written."""

from __future__ import annotations

from mooring.kube.errors import invalid
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest

MOST_GPUS = 16


def check(request: WebhookRequest, view: View) -> Admitted | Denied:
    gpus = ((request.object or {}).get("spec") or {}).get("gpus", 1)
    if gpus > MOST_GPUS:
        return Denied(errors=(invalid("spec.gpus", gpus, f"no node has more than {MOST_GPUS}"),))
    return Admitted()


WEBHOOK = Webhook(
    "validation.modelserver.mooring.dev",
    "validating",
    check,
    (Rule("sample.mooring.dev/v1", "modelservers", ("CREATE", "UPDATE")),),
    switch="model-server-webhook",
)
