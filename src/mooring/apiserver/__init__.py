"""An API server for one machine: HTTP, TLS, tokens, discovery, OpenAPI, tables and SQLite around the registry."""
