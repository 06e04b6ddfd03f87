"""What clients do in pods over streams: exec, attach, and port-forward."""
