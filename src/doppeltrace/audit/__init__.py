"""What somebody could learn about one person from a release, measured before it leaves."""

from doppeltrace.audit.level0 import Level0, level0

__all__ = ["Level0", "level0"]
