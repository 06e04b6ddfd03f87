"""Claims to devices: made for pods from templates, and given back when no pod uses them."""
