"""Figures in words."""


def percent(share: float) -> str:
    """Return a share with as many digits as it needs, and a space that does not break."""
    digits = 0 if share >= 0.1 or share == 0 else 1 if share >= 0.01 else 2
    return f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"
