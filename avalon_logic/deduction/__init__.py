"""Deduction: from a record to what is possible, what is certain, and why. `deduce` is the way in."""

from avalon_logic.deduction.api import deduce, read
from avalon_logic.deduction.course import begin, finish, setting_of, tell
from avalon_logic.deduction.result import Result, conclude

__all__ = ["Result", "begin", "conclude", "deduce", "finish", "read", "setting_of", "tell"]
