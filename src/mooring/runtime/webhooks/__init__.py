"""Webhooks as pure functions: declared next to controllers, called directly or over HTTPS, the same in every home.

`model` has what authors write, `direct` puts webhooks into a registry in the same process, and `server` serves them to
a real API server, with certificates that it makes, renews and writes into the configurations. Each is imported by name:
the embedded API server, which must start fast, needs `direct` only.
"""
