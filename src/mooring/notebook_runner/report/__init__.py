"""The report of a run as one page that needs nothing from outside."""
