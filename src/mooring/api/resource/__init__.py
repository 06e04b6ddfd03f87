"""resource.k8s.io: devices that drivers offer, classes of them, and claims of pods to them."""
