"""The handlers of requests on resources, one module per group of verbs, and of the paths that are no resources."""
