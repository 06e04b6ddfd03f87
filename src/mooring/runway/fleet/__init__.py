"""The nodes as people look at them: GPUs and who holds them, room, pools."""
