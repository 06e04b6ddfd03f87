"""What lets pods and new nodes trust the API, and the API trust them."""
