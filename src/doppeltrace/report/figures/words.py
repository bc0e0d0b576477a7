"""Figures in words."""

import re

INTERVAL = "95\N{NO-BREAK SPACE}% interval"


def percent(share: float) -> str:
    """Return a share with as many digits as it needs, and a space that does not break."""
    hundredths = abs(100 * share)
    digits = 0 if hundredths >= 9.95 or share == 0 else 1 if hundredths >= 0.995 else 2
    return f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"


def clock_time(hours: float) -> str:
    """Return hours as h:mm."""
    return "{}:{:02}".format(*divmod(round(hours * 60), 60))


def cut(text: str, length: int) -> str:
    """Return at most `length` characters of a text, the last of them … if there were more."""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def sentence(text: str) -> str:
    """Return a text with a capital letter first and a full stop, or …, last."""
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith(('…', '.')) else '.'}"


def unbroken(text: str) -> str:
    """Return a text in which no line ends in a range, an equation, or before a number's sign."""
    text = re.sub(r"(?<=\d)–(?=\d)", "\N{WORD JOINER}–\N{WORD JOINER}", text)
    return re.sub(r" (?=[%=])|(?<==) ", "\N{NO-BREAK SPACE}", text)


def duration(hours: float) -> str:
    """Return a time in words."""
    minutes = round(hours * 60)
    if minutes < 60 or (minutes % 60 and minutes < 120):
        return f"{minutes} minutes"
    return "1 hour" if minutes == 60 else f"{minutes / 60:.3g} hours"
