"""The answer about one node, for commands, pages and programs."""
