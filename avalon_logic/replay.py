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
from avalon_logic.records import NOBODY_WON, Record, as_key, key_out, winner_in
from rules_dsl import BadParameter, Engine, Model, Value

__all__ = ["Finding", "Replay", "TooOpen", "replay"]


@dataclass(frozen=True)
class Replay:
    """What became of a record.

    `over` is None where it depends on what was not written down whether the game is over. `winners` are those it can
    have ended with, `nobody` for an end without a winner; `result` is the one where there is no other.
    """

    findings: tuple[Finding, ...]
    over: bool | None
    winners: tuple[str, ...]
    winner_differs: bool
    awaits: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def result(self) -> str | None:
        """The winner by the rules, as far as it is determined; None also for an end without a winner."""
        known = self.over is True and len(self.winners) == 1 and self.winners[0] != NOBODY_WON
        return self.winners[0] if known else None

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
        return Replay((Finding(0, error.cites, str(error)),), False, (), False)
    findings = [Finding(0, c.origin.cites, c.text, fatal=False) for c in settled.errors]
    notes = tuple(describe_check(c) for c in settled.findings if c.severity != "error")
    if record.winner is not None:
        record = replace(record, winner=_named(settled.model, record, winner_in(settled.model, record)))
    engine = engine_regardless(record.configuration)
    found = _played(engine, record)
    if found is None and findings:
        return Replay(tuple(findings), False, (), False, "", notes)
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
    if broken is not None:
        return Replay(findings, False, (), False)
    ended = {s.over for s in last}
    over = ended.pop() if len(ended) == 1 else None
    awaits = "" if over else player.awaited(*(s for s in last if not s.over))
    results = {_named(engine.model, record, s.result) for s in last if s.over}
    return _verdict(record, findings, over, results, awaits)


def _verdict(
    record: Record, findings: tuple[Finding, ...], over: bool | None, results: Set[str], awaits: str
) -> Replay:
    winners = tuple(sorted(results))
    if over is None and record.winner is not None and record.winner not in winners:
        over, winners = False, ()  # it ended otherwise, later
    differs = over is True and record.winner is not None and record.winner not in winners
    return Replay(findings, over, winners, differs, awaits)


def _named(model: Model, record: Record, result: Value) -> str:
    """A result as a record writes it."""
    return NOBODY_WON if result is None else key_out(as_key(model.result), result, record.names)


def _with_fitting_deals(engine: Engine, record: Record) -> Replay:
    """The verdict where there are too many deals to try: that of a deal which fits the record as far as any does."""
    from avalon_logic.fitting import fitting_deals  # deduction is needed for such records only

    fitting = fitting_deals(record, engine.model)
    found = _played(engine, record, fitting.deals)
    assert found is not None
    if any(f.fatal and f.event != fitting.stopped for f in found.findings):
        raise TooOpen("it cannot be told with which cards this could have happened; write down the deal")
    if any(f.fatal for f in found.findings):
        return found
    results = {_named(engine.model, record, r) for r in fitting.results}
    return _verdict(record, found.findings, fitting.over, results, "" if fitting.over else found.awaits)
