"""What may leave: the only door out, and the forms that other programs read."""

from doppeltrace.release.writer import Release, read_release, release

__all__ = ["Release", "read_release", "release"]
