"""What is done in a cluster for a deployment: it is created as a whole, listed, deleted, and its logs are read.

Everything goes through the transport that is given, with the rights of whoever it belongs to.
"""
