"""How a released host is cleaned, and the inventory that proves it."""
