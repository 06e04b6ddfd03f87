"""Access to an API server: one protocol, with transports for a registry in this process and, later, for HTTP."""
