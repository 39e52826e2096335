"""Is a recorded game legal? A record in, a verdict out: which rule was broken where, who won, what would come next.

The record is played through the rules (`following`). If the cards were not all written down it is played with every
deal, or, where those are too many, with deals that fit it (`fitting`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from avalon_logic.comparing import Finding
from avalon_logic.configuration import describe_check, engine_regardless, examine
from avalon_logic.following import Player, TooManyDeals, TooOpen
from avalon_logic.records import Record, as_key, key_in, key_out
from rules_dsl import BadParameter, Engine, Model, Value

__all__ = ["Finding", "Replay", "TooOpen", "replay"]


@dataclass(frozen=True)
class Replay:
    """What became of a record. `result` is the engine's winner as far as it is determined."""

    findings: tuple[Finding, ...]
    over: bool
    result: str | None
    winner_differs: bool
    awaits: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def legal(self) -> bool:
        return not self.findings


def replay(record: Record) -> Replay:
    """Plays a record through the rules."""
    try:
        settled = examine(record.configuration)
    except BadParameter as error:
        if not error.cites:
            raise
        return Replay((Finding(0, error.cites, str(error)),), False, None, False)
    findings = [Finding(0, c.origin.cites, c.text, fatal=False) for c in settled.errors]
    notes = tuple(describe_check(c) for c in settled.findings if c.severity != "error")
    if record.winner is not None:
        result = as_key(settled.model.result)
        winner = key_out(result, key_in(result, record.winner, record, "winner"), record.names)
        record = replace(record, winner=winner)
    engine = engine_regardless(record.configuration)
    found = _played(engine, record)
    if found is None and findings:
        return Replay(tuple(findings), False, None, False, "", notes)
    if found is None:
        found = _with_fitting_deals(engine, record)
    return replace(found, findings=(*findings, *found.findings), notes=notes)


def _played(engine: Engine, record: Record, deals: Sequence[Mapping[str, str]] = ()) -> Replay | None:
    """The record played with these deals, or with every deal it leaves possible; None if there are too many."""
    player = Player(engine, record, deals)
    try:
        broken = player.run()
    except TooManyDeals:
        return None
    findings = (*player.breaches, *([broken] if broken is not None else []))
    last = [state for state, _ in player.ways]
    results = {_named(engine.model, record, s.result) for s in last} if broken is None else set()
    over = broken is None and all(s.over for s in last)
    awaits = ""
    if broken is None and not over:
        awaits = player.awaited(*(s for s in last if not s.over))
    return _verdict(record, findings, over, results, awaits)


def _verdict(
    record: Record, findings: tuple[Finding, ...], over: bool, results: Set[str | None], awaits: str
) -> Replay:
    result = next(iter(results)) if over and len(results) == 1 else None
    differs = over and record.winner is not None and record.winner not in results
    return Replay(findings, over, result, differs, awaits)


def _named(model: Model, record: Record, result: Value) -> str | None:
    """A result as a record writes it."""
    return None if result is None else key_out(as_key(model.result), result, record.names)


def _with_fitting_deals(engine: Engine, record: Record) -> Replay:
    """The verdict where there are too many deals to try: that of a deal which fits the record as far as any does."""
    from avalon_logic.fitting import fitting_deals  # deduction is needed for such records only

    fitting = fitting_deals(record, engine.model)
    found = _played(engine, record, fitting.deals)
    assert found is not None
    if any(f.fatal and f.event != fitting.stopped for f in found.findings):
        raise TooOpen("it cannot be told with which cards this could have happened; write down the deal")
    results = {_named(engine.model, record, r) for r in fitting.results}
    return _verdict(record, found.findings, found.over, results, found.awaits)
