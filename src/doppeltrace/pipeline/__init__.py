"""One run, from traces to a release: settings, batches, checkpoint, manifest."""
