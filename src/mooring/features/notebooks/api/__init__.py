"""The NotebookValidationJob API, mlops.mlops.dev/v1alpha1: its names, and typed views of it."""
