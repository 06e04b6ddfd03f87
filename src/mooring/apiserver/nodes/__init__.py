"""What a request wants of a node: logs, streams and proxies, passed on to its kubelet."""
