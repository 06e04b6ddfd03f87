"""What the pod webhook writes into every pod of a group."""
