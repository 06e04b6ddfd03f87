"""Access to an API server: one protocol, with transports over HTTP and to a registry in this process."""
