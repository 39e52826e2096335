"""What was taken from many records, or left in them, counted: rulings adopted, and what nobody reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from avalon_logic.many.pool import Answer
from avalon_logic.records import without_places


@dataclass
class Taken:
    """How many games each ruling was adopted in, and in how many each thing was not used."""

    adopted: Counter[str] = field(default_factory=Counter)
    unused: Counter[str] = field(default_factory=Counter)

    def add(self, answer: Answer) -> None:
        rulings = answer.get("rulings", {})
        self.adopted.update(f"{name}={rulings[name]}" for name in answer.get("adopted", ()))
        # in one order, or the summary would read otherwise at every run
        self.unused.update(sorted(without_places(tuple(answer.get("unused", ())))))

    def lines(self, adopted: str) -> Iterator[str]:
        """The summary; `adopted` is what the rulings are called in it."""
        if self.adopted:
            yield f"  {adopted}: {counted(self.adopted)}"
        if self.unused:
            yield f"  in the logs but not used: {counted(self.unused)}"


def counted(named: Counter[str]) -> str:
    return ", ".join(f"{name} in {n}" for name, n in named.most_common())
