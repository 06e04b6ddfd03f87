"""Programs of other people that tests talk to, and what starts them."""
