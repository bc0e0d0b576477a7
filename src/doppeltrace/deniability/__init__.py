"""Step (iv): test whether a synthetic trace could as well have come from other users."""
