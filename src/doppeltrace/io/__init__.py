"""Readers and writers, one file per format; column mapping; validation with row numbers."""
