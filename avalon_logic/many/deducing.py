"""Deduction over many games: did the true deal stay possible for everybody? One answer as JSON, and what all come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from avalon_logic.configuration import Refused
from avalon_logic.deduction.games import follow_game
from avalon_logic.many.pool import UNDECIDED, Answer, undecided
from avalon_logic.many.reading import record_of
from avalon_logic.many.sources import Source
from avalon_logic.many.taken import Taken
from avalon_logic.records import RecordError
from rules_dsl import BadParameter, RulebookError, UnknownName
from rules_dsl.arrays import TooManyUnknowns
from rules_dsl.smt.cores import Undecided

MOST_TOLD = 50  # games told of in the summary


@dataclass(frozen=True)
class Deducing:
    """Did the true deal stay possible, for everybody and after every event?"""

    rulings: tuple[tuple[str, str], ...] = ()
    paths: tuple[Path, ...] = ()

    def __call__(self, source: Source) -> dict[str, Any]:
        try:
            verdict = follow_game(record_of(source, dict(self.rulings), self.paths))
        except (TooManyUnknowns, Undecided) as error:
            return undecided(f"too much is unknown: {error}")
        except (RecordError, UnknownName, BadParameter, RulebookError, Refused) as error:
            return {"status": "unreadable", "error": str(error)}
        status = "sound" if verdict.sound else "illegal" if verdict.illegal else "excluded"
        told = [] if verdict.explanation is None else verdict.explanation.lines()[1:]
        return {"status": status, **verdict.to_json(), "told": told}


@dataclass
class DeduceTally:
    """In how many games the true deal stayed possible, and what is to be said of the others."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    taken: Taken = field(default_factory=Taken)

    def add(self, answer: Answer) -> None:
        status = answer["status"]
        self.counts[status] += 1
        self.counts["viewers"] += len(answer.get("viewers", ()))
        self.taken.add(answer)
        if status in ("excluded", "illegal"):
            self.counts["faults"] += 1
            if self.counts["faults"] <= MOST_TOLD:
                name = answer["id"] or answer["where"]
                self.faults.append(f"{name}: {answer['illegal'] or 'the true deal is excluded'}")
                self.faults += [f"  {line}" for line in answer["told"]]

    def lines(self) -> Iterator[str]:
        counts = self.counts
        total = sum(counts[s] for s in ("sound", "excluded", "illegal", "unreadable", UNDECIDED))
        yield f"{total} games, {counts['viewers']:,} viewers (the neutral observer and every seat)"
        yield f"  the true deal stayed possible for everybody after every event: {counts['sound']}"
        for status, said in (
            ("excluded", "the true deal is excluded by what was recorded"),
            ("illegal", "not legal, so not followed to the end"),
            (UNDECIDED, "not decided"),
            ("unreadable", "not readable"),
        ):
            if counts[status]:
                yield f"  {said}: {counts[status]}"
        yield from self.taken.lines("rulings taken from the logs")
        yield from self.faults
        if counts["faults"] > MOST_TOLD:
            yield f"... and {counts['faults'] - MOST_TOLD} more; --json tells of each"

    @property
    def code(self) -> int:
        if self.counts["unreadable"]:
            return 2
        if self.counts["excluded"] or self.counts["illegal"]:
            return 1
        return 3 if self.counts[UNDECIDED] else 0
