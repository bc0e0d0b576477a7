"""The front doors: every synthesizer has the same `fit` and `sample`."""
