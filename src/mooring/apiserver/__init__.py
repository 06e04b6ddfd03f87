"""An API server for one machine: HTTP, TLS, authentication, discovery, OpenAPI, tables and SQLite around the registry."""
