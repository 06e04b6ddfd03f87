"""This machine as a node: runs the containers of pods as processes."""
