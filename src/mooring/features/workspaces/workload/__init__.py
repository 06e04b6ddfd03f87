"""What a Workspace is made into: Services, and a StatefulSet whose pods serve the model."""
