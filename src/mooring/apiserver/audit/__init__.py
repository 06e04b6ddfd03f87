"""The audit log: who asked the API for what, when, and how it was answered, in kube-apiserver's own format."""
