"""What is refused in a Workspace, with upstream's field paths."""
