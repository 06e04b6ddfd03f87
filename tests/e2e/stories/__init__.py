"""What people do with workloads, told once and played in both clusters.

A story is a generator: it acts in a town and waits for what must come of it; at every `yield` the two towns must look
the same, but for the kinds that the yield names.
"""
