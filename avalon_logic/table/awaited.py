"""What the rules await at the table: the events that may come next, who makes them, and what a line passed over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from avalon_logic.deduction.course import tell
from avalon_logic.records import RecordError, fields_of
from avalon_logic.table.game import Game
from rules_dsl import model as m
from rules_dsl.arrays.belief import Belief
from rules_dsl.arrays.follow import UnreadableRecord
from rules_dsl.arrays.scene import Scene
from rules_dsl.arrays.shapes import decode, known
from rules_dsl.flow import successors


@dataclass(frozen=True)
class Awaited:
    """An event that may come next. `by` is the seat that chooses, if one does and everybody knows which.

    `direct` says that its own choice comes next, not one that nobody sees and that only leads to it.
    """

    phase: str
    by: int | None = None
    direct: bool = True

    def text(self, names: tuple[str, ...]) -> str:
        return self.phase if self.by is None else f"{self.phase} by {names[self.by]}"


def awaited(game: Game) -> tuple[Awaited, ...]:
    """The events of which something can be written down next; none when the game is over."""
    return tuple(dict.fromkeys(found for found, _ in _awaited(game)))


def what_comes_next(game: Game) -> str:
    """The events the rules await, for a prompt."""
    if game.record is None:
        return "players"
    found = awaited(game)
    return " or ".join(a.text(game.record.names) for a in found) if found else "the game is over"


def is_over(game: Game) -> bool:
    """Has the game ended, whatever the cards are?"""
    return game.neutral is not None and all(b.over for b in game.neutral.inquiry.beliefs)


def _awaited(game: Game) -> Iterator[tuple[Awaited, Belief]]:
    if game.neutral is None:
        return
    model = game.neutral.setting.model
    for belief in game.neutral.inquiry.beliefs:
        if belief.point is None:
            continue
        phase, step = belief.point
        choice = model.phases[phase].choices[step]
        if choice.audience.kind != "public" and choice.chooser.kind != "chance":
            yield Awaited(_published_after(model, phase), None, False), belief
            continue
        seat = None if choice.chooser.who is None else value_for(belief, choice.chooser.who)
        yield Awaited(phase, seat if isinstance(seat, int) else None), belief


def value_for(belief: Belief, expr: m.Expr) -> m.Value:
    """The value of an expression in a belief; None if it is not known."""
    try:
        nest = belief.machine.program.formulas.value(expr)(Scene(belief.values))
    except KeyError:
        return None
    return decode(expr.type, nest) if known(nest) else None


def _published_after(model: m.Model, phase: str) -> str:
    """The next phase of which something can be written down that everybody sees."""
    here = phase
    for _ in range(len(model.phases)):
        following = sorted(successors(model.phases[here]))
        for name in following:
            if any(f.choice is None and not f.shown for f in fields_of(model, name)):
                return name
        if not following:
            break
        here = following[0]
    return phase


def passed_over(before: Game, after: Game) -> str | None:
    """The event everybody saw, awaited before the last line, that the line went past without a word; None if none.

    A record may leave out what nobody noted; at the table it is most likely forgotten.
    """
    record = after.record
    if record is None or before.record is None or before.record.winner is not None:
        return None
    if len(record.events) != len(before.record.events) + 1:
        return None
    event = record.events[-1]
    due = list(_awaited(before))
    still = {a.phase for a in awaited(after)}
    skipped = [a.phase for a, _ in due if a.phase != event.phase and a.phase not in still]
    if event.phase not in record_phases(after) or not skipped or skipped[0] not in record_phases(after):
        return None
    direct = [belief for a, belief in due if a.phase == event.phase]
    return None if direct and _could_follow(before, after, direct) else skipped[0]


def record_phases(game: Game) -> frozenset[str]:
    """The phases of which something can be written down."""
    model = game.model
    assert model is not None
    return frozenset(p for p in model.phases if fields_of(model, p))


def _could_follow(before: Game, after: Game, beliefs: list[Belief]) -> bool:
    """Can the last event have come right away, in one of these beliefs?"""
    assert before.watched is not None and after.record is not None
    inquiry = before.watched.inquiry
    kept = tuple((b, owed) for b, owed in inquiry.follower.beliefs if any(b is one for one in beliefs))
    if not kept:
        return False
    narrowed = replace(inquiry, follower=replace(inquiry.follower, beliefs=kept))
    try:
        return tell(narrowed, after.record, after.record.events[-1]).count() > 0
    except (RecordError, UnreadableRecord):
        return False
