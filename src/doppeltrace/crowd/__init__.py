"""Crowd: noisy, bounded counts of all users together, and a chain of new people made from them."""
