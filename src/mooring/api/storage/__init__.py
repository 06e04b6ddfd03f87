"""storage.k8s.io: StorageClasses."""
