"""The agent's own identity: a client certificate, asked for with a bootstrap token and renewed in time."""
