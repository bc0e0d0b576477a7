"""What everybody does: learned from all users together, in `fit`."""
