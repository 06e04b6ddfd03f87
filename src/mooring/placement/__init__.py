"""Placement: where a pod lands, why not elsewhere, and the smallest change that would let it.

Pure, without I/O. A `SchedulerCache` follows the objects it is given; an `Engine` answers for it what the scheduler
of Kubernetes 1.35 with its default profile would do.
"""
