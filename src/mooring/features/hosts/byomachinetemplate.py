"""ByoMachineTemplates: what a Node of their pool will have, for who must know before there is one.

What the template says itself counts; where it says nothing, it is what the smallest host that matches has, so that no
promise is made that some host could not keep. A selector that matches no host at all is told, with the nearest labels.
"""

from __future__ import annotations

from datetime import datetime

from mooring.api.kinds import Key
from mooring.features.hosts.api.conditions import HOSTS_MATCH, INVALID_SELECTOR, NO_HOST_MATCHES, READY
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.kinds import BYO_HOST, BYO_MACHINE_TEMPLATE
from mooring.features.hosts.api.machines import ByoMachineTemplate, TemplateCapacity
from mooring.features.hosts.api.names import GPU
from mooring.features.hosts.byomachine.choice import matching_hosts, shortage
from mooring.features.hosts.statuses import holds, status_patch, waiting
from mooring.kube.errors import SelectorError
from mooring.kube.objects import Object
from mooring.kube.quantities import milli_value
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.view import View


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    template = view.get(BYO_MACHINE_TEMPLATE, *key)
    if template is None or template.metadata.deleting:
        return Decision()
    spec = template.spec.template.spec
    try:
        matching = matching_hosts(view, key.namespace, spec)
        why = "" if matching else shortage(view, key.namespace, spec).message
    except SelectorError as error:
        condition = waiting(READY, INVALID_SELECTOR, f"spec.template.spec.selector: {error}", "Error")
        return Decision(status=status_patch(BYO_MACHINE_TEMPLATE, template, template.status, (condition,), now))
    smallest = min(matching, key=_size, default=None)
    fields: Object = {"capacity": _capacity(template, smallest)}
    if smallest is not None and smallest.status.hostinfo.architecture:
        info = smallest.status.hostinfo
        fields["nodeInfo"] = {"architecture": info.architecture, "operatingSystem": info.osname}
    if smallest is None:
        condition = waiting(READY, NO_HOST_MATCHES, why, "Warning")
    else:
        condition = holds(READY, HOSTS_MATCH, f"{len(matching)} ByoHosts match, free or not")
    return Decision(
        status=status_patch(
            BYO_MACHINE_TEMPLATE, template, template.status, (condition,), now, _replaced(template, fields)
        )
    )


def _size(host: HostClaim) -> tuple[int, int, str]:
    capacity = host.spec.capacity
    return milli_value(capacity.get("cpu", 0)), milli_value(capacity.get("memory", 0)), host.metadata.name


def _capacity(template: ByoMachineTemplate, host: HostClaim | None) -> Object:
    found: Object = {} if host is None else dict(host.spec.capacity)
    said = template.spec.capacity or TemplateCapacity()
    written = {
        "cpu": said.cpu,
        "memory": said.memory,
        "ephemeral-storage": said.ephemeral_disk,
        "pods": said.max_pods,
        said.gpu_type or GPU: said.gpu_count,
    }
    return found | {name: amount for name, amount in written.items() if amount}


def _replaced(template: ByoMachineTemplate, fields: Object) -> Object:
    """The fields, with None for resources that are no longer there: a merge patch keeps what it does not name."""
    gone = template.status.capacity.keys() - fields["capacity"].keys()
    if not gone:
        return fields
    return {**fields, "capacity": {**fields["capacity"], **dict.fromkeys(gone)}}


CONTROLLER = Controller(
    "byomachinetemplate",
    reconcile,
    of=BYO_MACHINE_TEMPLATE,
    reads=(BYO_HOST,),
    writes={BYO_MACHINE_TEMPLATE: ("status",)},
)
