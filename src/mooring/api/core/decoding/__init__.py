"""From JSON to typed objects, with the errors of the real decoder."""
