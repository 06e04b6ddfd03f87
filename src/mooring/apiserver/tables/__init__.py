"""Table output: the columns and cells that `kubectl get` shows for every kind.

The cells are made on the server, so what a pod's row says is decided here: one module per group of kinds, each
registering its printers, and one for the columns that custom kinds declare.
"""

from mooring.apiserver.tables import (
    access,
    autoscaling,
    core,
    events,
    metrics,
    network,
    others,
    pods,
    storage,
    workloads,
)
from mooring.apiserver.tables.build import partial, partial_list, table
from mooring.apiserver.tables.custom import printer_columns
from mooring.apiserver.tables.durations import human_duration

__all__ = ["human_duration", "partial", "partial_list", "printer_columns", "table"]

# Imported for what they register.
_REGISTERED = (access, autoscaling, core, events, metrics, network, others, pods, storage, workloads)
