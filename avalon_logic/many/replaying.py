"""Recorded games played through the rules, many of them: the answer to one as JSON, and what all of them come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from avalon_logic.many.pool import UNDECIDED, Answer, undecided
from avalon_logic.many.reading import record_of
from avalon_logic.many.sources import Source
from avalon_logic.many.taken import Taken, counted
from avalon_logic.records import Record, RecordError
from avalon_logic.replay import Replay, TooOpen, replay
from rules_dsl import BadParameter, RulebookError, UnknownName
from rules_dsl.arrays import TooManyUnknowns

SHOWN = 6  # games named for each clause


@dataclass(frozen=True)
class Replaying:
    """Is a game legal?"""

    rulings: tuple[tuple[str, str], ...] = ()
    paths: tuple[Path, ...] = ()

    def __call__(self, source: Source) -> dict[str, Any]:
        try:
            record = record_of(source, dict(self.rulings), self.paths)
            result = replay(record)
        except (TooOpen, TooManyUnknowns) as error:
            return undecided(f"too much is unknown: {error}")
        except (RecordError, UnknownName, BadParameter, RulebookError) as error:
            return {"status": "unreadable", "error": str(error)}
        return {"status": "legal" if result.legal else "illegal", **outcome_json(record, result)}


@dataclass
class ReplayTally:
    """How many games were legal, and which clauses the others break."""

    counts: Counter[str] = field(default_factory=Counter)
    by_clause: Counter[str] = field(default_factory=Counter)
    rulings: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    taken: Taken = field(default_factory=Taken)

    def add(self, answer: Answer) -> None:
        status = answer["status"]
        self.counts[status] += 1
        if status not in ("legal", "illegal"):
            return
        self.counts["unfinished"] += answer["legal"] and answer["finished"] is not True
        self.counts["differs"] += answer["winner_differs"]
        for finding in answer["findings"]:
            clause = finding["clause"] or "?"
            self.by_clause[clause] += 1
            named = self.examples.setdefault(clause, [])
            if len(named) <= SHOWN:
                named.append(answer["id"] or answer["where"])
        self.taken.add(answer)
        self.rulings.update(f"{name}={choice}" for name, choice in answer["rulings"].items())

    def lines(self) -> Iterator[str]:
        counts = self.counts
        total = sum(counts[s] for s in ("legal", "illegal", "unreadable", UNDECIDED))
        yield f"games: {total}"
        yield f"  legal: {counts['legal']} ({counts['unfinished']} of them not played to the end)"
        yield f"  illegal: {counts['illegal']}"
        for clause, number in self.by_clause.most_common():
            named = self.examples[clause]
            more = ", ..." if len(named) > SHOWN else ""
            yield f"    {clause}: {number} ({', '.join(named[:SHOWN])}{more})"
        yield f"  winners that differ: {counts['differs']}"
        if counts[UNDECIDED]:
            yield f"  not decided: {counts[UNDECIDED]}"
        if counts["unreadable"]:
            yield f"  not readable: {counts['unreadable']}"
        if self.rulings:
            yield f"  rulings in force: {counted(self.rulings)}"
        yield from self.taken.lines("of these taken from the logs")

    @property
    def code(self) -> int:
        if self.counts["unreadable"]:
            return 2
        if self.counts[UNDECIDED]:
            return 3
        return 1 if self.counts["illegal"] or self.counts["differs"] else 0


def outcome_json(record: Record, result: Replay) -> dict[str, Any]:
    """The verdict on one game as JSON (schema in docs/records.md)."""
    return {
        "id": record.title,
        "legal": result.legal,
        "finished": result.over,
        "findings": [
            {
                "event": _number(record, f.event),
                "where": where_of(record, f.event),
                "clause": f.clauses[0] if f.clauses else None,
                "clauses": list(f.clauses),
                "message": f.message,
                "legal": f.legal,
            }
            for f in result.findings
        ],
        "winner": result.result,
        "winners": list(result.winners),
        "recorded_winner": record.winner,
        "winner_differs": result.winner_differs,
        "rulings": dict(record.configuration.rulings),
        "adopted": dict(record.adopted),
        "unused": list(record.unused),
        "notes": list(result.notes),
        "awaits": result.awaits,
    }


def _number(record: Record, event: int) -> int:
    """An event's number as the record's source counts."""
    return (record.events[event - 1].number or event) if event else 0


def where_of(record: Record, event: int) -> str:
    return "set-up" if event == 0 else record.events[event - 1].where or f"event {event}"
