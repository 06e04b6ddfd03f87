"""Objects of features as people look at them, one module for each feature."""
