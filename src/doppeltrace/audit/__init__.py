"""What somebody could learn about one person from a release, measured before it leaves.

`doppeltrace.audit(...)` runs an audit. It shares its name with this room, which is therefore
callable, so that the name means the same whichever of the two was imported first.
"""

import sys
from types import ModuleType
from typing import Any

from doppeltrace.audit.level0 import Level0, level0

__all__ = ["Level0", "level0"]


class _Room(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run an audit; see `doppeltrace.audit.run.audit`."""
        from doppeltrace.audit.run import audit  # the other levels need the models, level 0 not

        return audit(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
