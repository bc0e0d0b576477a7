"""The pages that a run leaves for internal use."""
