"""Where shards of users run."""
