"""Claims to devices, and changes of what they ask for."""
