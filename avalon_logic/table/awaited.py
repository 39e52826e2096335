"""What the rules await at the table: the events that may come next, who makes them, and what a line passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from avalon_logic.deduction.course import tell
from avalon_logic.deduction.hearing import before_secrets
from avalon_logic.fields import fields_of
from avalon_logic.records import RecordError
from avalon_logic.table.game import Game, NotTaken, enter
from rules_dsl import model as m
from rules_dsl.arrays import TooManyUnknowns
from rules_dsl.arrays.belief import Belief, advance
from rules_dsl.arrays.event import Event as Unseen
from rules_dsl.arrays.follow import UnreadableRecord
from rules_dsl.arrays.scene import Scene
from rules_dsl.arrays.shapes import decode, known
from rules_dsl.flow import successors

MOST_UNSEEN = 60  # choices nobody sees, and ways they may have gone


@dataclass(frozen=True)
class Awaited:
    """An event that may come next. `by` is the seat that chooses, if one does and everybody knows which."""

    phase: str
    by: int | None = None

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


@lru_cache(maxsize=8)
def standing(game: Game) -> tuple[Belief, ...]:
    """Where the game stands: past what is chosen unseen, unless something of it becomes known right after."""
    if game.neutral is None:
        return ()
    inquiry = game.neutral.inquiry
    if _told_in_secret(game):
        inquiry = before_secrets(inquiry)  # what somebody knows of it does not bring the game any further
    found: list[Belief] = []
    ahead = list(inquiry.beliefs)
    for _ in range(MOST_UNSEEN):
        if not ahead:
            break
        belief = ahead.pop(0)
        if _is_due(belief):
            found.append(belief)
            continue
        try:
            ahead += advance(belief, Unseen(), 0).beliefs
        except TooManyUnknowns:
            return inquiry.beliefs
    return tuple(found) if found and not ahead else inquiry.beliefs


def _told_in_secret(game: Game) -> bool:
    """Was the last event one nobody saw, of which something is to become known?"""
    last, model = _last_event(game), game.model
    if last is None or model is None:
        return False
    choices = model.phases[last].choices
    return (
        bool(choices)
        and all(c.audience.kind != "public" for c in choices)
        and any(_publishes(model, p) for p in _written_after(model, last))
    )


def _is_due(belief: Belief) -> bool:
    """Is what everybody sees next the choice awaited, or something that becomes known of it?"""
    if belief.point is None:
        return True
    model, (phase, step) = belief.machine.model, belief.point
    choice = model.phases[phase].choices[step]
    if choice.audience.kind == "public" or choice.chooser.kind == "chance":
        return True
    return any(_publishes(model, p) for p in (phase, *_written_after(model, phase)))


def _awaited(game: Game) -> Iterator[tuple[Awaited, Belief]]:
    """The events that may come next, each with the belief in which they do."""
    for belief in standing(game):
        if belief.point is None:
            continue
        model, (phase, step) = belief.machine.model, belief.point
        choice = model.phases[phase].choices[step]
        noted = choice.chooser.kind == "chance" and phase == _last_event(game)
        if noted or (choice.audience.kind != "public" and choice.chooser.kind != "chance"):
            for following in _written_after(model, phase) or [phase]:
                yield Awaited(following), belief
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


def _last_event(game: Game) -> str | None:
    """The last event written down that was no talk."""
    if game.record is None or game.model is None:
        return None
    return next((e.phase for e in reversed(game.record.events) if e.phase in game.model.phases), None)


def _publishes(model: m.Model, phase: str) -> bool:
    return any(f.choice is None and not f.shown for f in fields_of(model, phase))


def _everybody_sees(model: m.Model, phase: str) -> bool:
    """Is there something in a phase that everybody at the table saw?"""
    return _publishes(model, phase) or any(c.audience.kind == "public" for c in model.phases[phase].choices)


def _written_after(model: m.Model, phase: str) -> list[str]:
    """The nearest phases after one, of which something can be written down that everybody sees."""
    found: list[str] = []
    ahead, met = sorted(successors(model.phases[phase])), {phase}
    while ahead:
        here = ahead.pop(0)
        if here in met:
            continue
        met.add(here)
        if _publishes(model, here) or any(
            c.audience.kind == "public" and c.chooser.kind != "chance" for c in model.phases[here].choices
        ):
            found.append(here)
        else:
            ahead += sorted(successors(model.phases[here]))
    return found


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
    model = before.model
    assert model is not None
    skipped = [
        a.phase
        for a, _ in due
        if a.phase != event.phase and a.phase not in still and _everybody_sees(model, a.phase)
    ]
    if event.phase not in model.phases or not skipped:
        return None
    elsewhere = {belief for a, belief in due if a.phase in skipped}
    direct = [b for b in before.neutral.inquiry.beliefs if b not in elsewhere] if before.neutral else []
    return None if direct and _could_follow(before, after, direct) else skipped[0]


def forgotten_before(game: Game, read: Callable[[Game], Game]) -> str | None:
    """The event everybody saw that must have been forgotten if a line makes sense only after it; None if none.

    `read` takes the line into a game, or raises `NotTaken`.
    """
    due = {a.phase for a in awaited(game)}
    if len(due) != 1 or game.model is None:
        return None
    (event,) = due
    if not _everybody_sees(game.model, event):
        return None
    try:
        later = enter(game, f"{event} ?")
        if {a.phase for a in awaited(later)} != due:
            read(later)
            return event
    except NotTaken:
        pass
    return None


def _could_follow(before: Game, after: Game, beliefs: list[Belief]) -> bool:
    """Can the last event have come right away, in one of these beliefs?"""
    assert before.watched is not None and after.record is not None
    inquiry = before.watched.inquiry
    kept = tuple(b for b in inquiry.tour.beliefs if any(b is one for one in beliefs))
    if not kept:
        return False
    narrowed = replace(inquiry, tour=replace(inquiry.tour, beliefs=kept))
    try:
        return tell(narrowed, after.record, after.record.events[-1]).count() > 0
    except (RecordError, UnreadableRecord):
        return False
