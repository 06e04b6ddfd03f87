"""HTTP/1.1 for every process of Mooring: one server, one client, TLS and certificates. Knows nothing of Kubernetes."""
