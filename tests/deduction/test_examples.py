"""The examples in the docstrings of the deduction modules are true."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["api", "result"])
def test_docstring_examples_give_what_they_show(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"avalon_logic.deduction.{name}"))
    assert tried > 0
    assert failed == 0
