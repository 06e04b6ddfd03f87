"""The files of a pod's volumes."""
