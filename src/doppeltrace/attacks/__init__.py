"""What an attacker who holds the original traces can learn from synthetic ones."""

from doppeltrace.attacks.copies import Copies, copy_check, shared_runs
from doppeltrace.attacks.membership import (
    Membership,
    file_membership_inference,
    membership_attacks,
    membership_inference,
)
from doppeltrace.attacks.reidentification import (
    Reidentification,
    guess_users,
    reidentification,
)

__all__ = [
    "Copies",
    "Membership",
    "Reidentification",
    "copy_check",
    "file_membership_inference",
    "guess_users",
    "membership_attacks",
    "membership_inference",
    "reidentification",
    "shared_runs",
]
