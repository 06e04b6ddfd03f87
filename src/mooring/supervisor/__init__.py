"""What `mooring up` is made of: a folder, an address, two processes and the parent that watches over them.

The parent imports as little as it can: it is there from the first moment to the last, and the API waits for it.
"""
