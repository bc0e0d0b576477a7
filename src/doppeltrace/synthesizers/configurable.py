"""Settings of a model: checked by their annotations, readable and changeable by name."""

from __future__ import annotations

import inspect
from typing import Any, Self

from doppeltrace.arguments import checked
from doppeltrace.errors import SettingsError

NOT_THE_MODEL = ("seed", "threads")
"""Arguments of every constructor that say nothing of what the model is."""


class Configurable:
    """An object whose constructor's arguments are attributes of the same names.

    Arguments of a type other than their annotation are refused by name.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        """Check the types of settings wherever a class has a constructor of its own."""
        super().__init_subclass__(**more)
        if "__init__" in cls.__dict__:
            setattr(cls, "__init__", checked(cls.__dict__["__init__"]))  # noqa: B010

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all arguments of the constructor, as scikit-learn's estimators do."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change settings; nothing is fitted afterwards."""
        known = self.get_params()
        strange = [name for name in params if name not in known]
        if strange:
            raise SettingsError(
                f"{type(self).__name__} has no setting {strange[0]}: it has {', '.join(known)}"
            )
        self.__dict__ = type(self)(**{**known, **params}).__dict__
        return self

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that decide the model, without seed and threads."""
        return {n: v for n, v in self.get_params().items() if n not in NOT_THE_MODEL}

    def _changed(self) -> str:
        """Return the settings that are not the defaults, as one writes them in a call."""
        defaults = inspect.signature(type(self)).parameters
        return ", ".join(
            f"{name}={value!r}"
            for name, value in self.settings.items()
            if value != defaults[name].default
        )
