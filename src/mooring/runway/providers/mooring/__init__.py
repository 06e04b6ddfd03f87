"""Plain Mooring: Workspaces and groups of pods that our own controllers run; there is nothing to install."""
