"""cluster.x-k8s.io/v1beta1, which is served beside v1beta2: its types, for the definition, and its conversion."""
