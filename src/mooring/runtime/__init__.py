"""Runs controllers: reads for them, writes for them, and runs them again when an answer they read changes.

A controller is a plain function `reconcile(key, view, now) -> Decision`. The `Dispatcher` holds what controllers have
read and decides which key runs next, without I/O; a driver feeds it events and carries decisions out. The simulated
driver does so in virtual time over a registry in memory, the live one in real time over an API server.
"""
