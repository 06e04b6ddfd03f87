"""Who may do what: each authorizer is a function of a request's attributes and of stored objects."""
