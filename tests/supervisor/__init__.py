"""What `mooring up` is made of."""
