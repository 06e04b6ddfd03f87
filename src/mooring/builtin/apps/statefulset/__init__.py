"""StatefulSets: pods with stable names, in order."""
