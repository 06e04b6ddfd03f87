"""What `spec.validationConfig` asks of a notebook, decided cell by cell from the executed notebook."""
