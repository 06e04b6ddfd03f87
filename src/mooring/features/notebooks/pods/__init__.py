"""The pod of an attempt: how it is made, how it goes its way, and why it failed."""
