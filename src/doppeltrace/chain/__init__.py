"""Step (iii): draw traces by Metropolis–Hastings, without building a transition matrix."""
