"""What a bare API server lacks: the controllers that turn workloads into pods, and what carries the pods.

Each is a pure function over a view of the cluster, declared with the kinds it reads and writes.
"""
