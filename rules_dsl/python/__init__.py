"""The Python back end: a settled model in, an engine of straight-line code on ints and bit masks out."""

from rules_dsl.python.engine import Engine, compile_python

__all__ = ["Engine", "compile_python"]
