"""What may leave: the only door out, and the forms that other programs read."""

from doppeltrace.release.folder import Release, TraceCounts, read_manifest, read_release
from doppeltrace.release.writer import release

__all__ = ["Release", "TraceCounts", "read_manifest", "read_release", "release"]
