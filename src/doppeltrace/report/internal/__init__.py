"""The internal page: is it safe, what is lost. It knows the real data."""
