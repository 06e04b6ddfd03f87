"""storage.k8s.io: StorageClasses, what drivers tell of themselves, and volumes that are attached to nodes."""
