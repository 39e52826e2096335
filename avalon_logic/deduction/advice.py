"""Advice from what is possible: whom to take along, whom to name.

`advise_teams(result)` ranks the teams a leader may propose by the chance that nobody on them is evil, and says how much
their quest would tell; `advise_naming(result)` ranks the seats as Merlin. What a quest would tell depends on how evil
plays its cards, so an assumption about that is always used and always named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from avalon_logic.deduction.facts import Fact, expression
from avalon_logic.deduction.hearing import public_value
from avalon_logic.deduction.result import Result, Share
from avalon_logic.deduction.setting import MERLIN, Setting, lay, team_size
from avalon_logic.records import RecordError
from rules_dsl import Value
from rules_dsl import model as m
from rules_dsl.arrays import AFTER_CHOICE, Belief, Event
from rules_dsl.arrays import worlds as w
from rules_dsl.arrays.answers import Worlds, chance
from rules_dsl.arrays.belief import fact_parts, likelihood
from rules_dsl.arrays.columns import Array, Cell, Tensor, tensor
from rules_dsl.arrays.event import SOMEBODY, Seen
from rules_dsl.arrays.scene import Scene
from rules_dsl.arrays.shapes import conjunction, encode
from rules_dsl.types import BOOL, IntType

TEAM, CARD, FAILS = "team", "card", "fails"
QUEST, NEEDED = "quest", "fails_needed"
NAMED, KILLERS = "victim", "namers"
EVEN_CARDS = "evil_fails_half_the_time"  # how evil is taken to play where nothing else was assumed


@dataclass(frozen=True)
class Team:
    """A team that may be proposed: the chance that nobody on it is evil, and what its quest would bring.

    `succeeds` is the chance that the quest succeeds; `information`, in bits, how much less uncertain the deal would be
    on average once the fails were counted. Both are None where more than the cards decides the result.
    """

    members: tuple[str, ...]
    clean: Share
    succeeds: float | None
    information: float | None


@dataclass(frozen=True)
class TeamAdvice:
    """Teams for a quest, the cleanest first; `cards` says how evil was taken to play its cards."""

    quest: int
    teams: tuple[Team, ...]
    cards: tuple[m.Assumption, ...]
    result: Result


@dataclass(frozen=True)
class NamingAdvice:
    """Seats that may hold Merlin's card, the likeliest first."""

    seats: tuple[tuple[str, Share], ...]
    result: Result


def awaits_naming(result: Result) -> bool:
    """Is Merlin to be named next?"""
    model = result.setting.model
    points = {b.point for b in result.inquiry.beliefs}
    return all(p is not None and model.phases[p[0]].choices[p[1]].variable == NAMED for p in points)


def require_quests(model: m.Model) -> None:
    """Raises `RecordError` for a game in which no teams go on quests."""
    choices = {c.variable for p in model.phases.values() for c in p.choices}
    missing = [
        *(f"choice of a '{n}'" for n in (TEAM, CARD) if n not in choices),
        *(f"'{n}' published" for n in (FAILS,) if n not in model.variables),
        *(f"definition '{n}'" for n in (QUEST, NEEDED) if n not in model.definitions),
        *(f"table '{n}'" for n in ("team_size",) if n not in model.tables),
    ]
    if missing:
        raise RecordError(
            f"no teams go on quests in {model.name}: it has no {', no '.join(missing)}; "
            "there is nothing to advise (what is certain: avalon deduce)"
        )


def open_quests(result: Result) -> tuple[int, ...]:
    """The quests a team may be proposed for next."""
    require_quests(result.setting.model)
    if any(b.over for b in result.inquiry.beliefs):
        raise RecordError("the game is over: no team is proposed any more")
    chosen = _quest_variable(result.setting.model)
    if not chosen:
        quest = public_value(result.inquiry, QUEST)
        if not isinstance(quest, int):
            raise RecordError("the record leaves open which quest comes next")
        return (quest,)
    machine, belief = result.setting.machine, result.inquiry.beliefs[0]
    type_ = machine.model.variables[chosen].type
    assert isinstance(type_, IntType)
    point = machine.program.find(chosen)
    return tuple(
        q
        for q in range(type_.low, type_.high + 1)
        if likelihood(belief, machine, point, {}, Event(chosen=((SOMEBODY, q),), until=AFTER_CHOICE))
    )


def _quest_variable(model: m.Model) -> str:
    """The variable that holds the quest, where the leader chooses it."""
    value = model.definitions[QUEST].value
    return value.name if isinstance(value, m.Variable) else ""


def advise_teams(result: Result, quest: int | None = None) -> TeamAdvice:
    """Every team of the right size for a quest (the next one), the cleanest first.

    >>> from avalon_logic.deduction import deduce
    >>> found = deduce("players Ann Bob Cid Dan Eve\\nfirst_leader Ann\\npropose Ann Bob\\nvote ?\\ntally 1")
    >>> best = advise_teams(found).teams[0]
    >>> best.members, best.clean
    (('Ann', 'Cid', 'Dan'), Fraction(1, 7))
    """
    setting = result.setting
    if not result.possible:
        raise RecordError("no deal is possible, so there is nothing to advise")
    possible = open_quests(result)
    if quest is None:
        quest = possible[0]
    elif quest not in possible:
        raise RecordError(f"quest {quest} is not open; open: {', '.join(map(str, possible))}")
    belief = result.inquiry.beliefs[0]
    cards = _card_setting(setting)
    chosen = _quest_variable(cards.model)
    given: dict[str, Value] = {chosen: quest} if chosen else {}
    needed = _needed(belief, cards, given)
    good = setting.sides[0]
    is_good = [
        conjunction(fact_parts(belief, expression(Fact(s, good), setting))) for s in range(len(setting.names))
    ]
    found = result.inquiry.worlds()
    teams: list[Team] = []
    for members in combinations(range(len(setting.names)), team_size(setting, quest)):
        clean = chance(found, conjunction(is_good[s] for s in members))
        names = tuple(setting.names[s] for s in members)
        spread = _results(found, belief, cards, {**given, TEAM: frozenset(members)}, len(members))
        if spread is None:
            teams.append(Team(names, clean, None, None))
            continue
        weights, by_world = spread
        expected = weights @ by_world
        told = _entropy(expected) - float(weights @ _entropies(by_world))
        teams.append(Team(names, clean, float(expected[:needed].sum()), max(0.0, told)))
    teams.sort(key=lambda t: (-t.clean, -round(t.information or 0.0, 9), -round(t.succeeds or 0.0, 9)))
    used = tuple(a for a in cards.assumed() if a.target == CARD)
    return TeamAdvice(quest, tuple(teams), used, result)


def advise_naming(result: Result) -> NamingAdvice:
    """Who may be Merlin, the likeliest first.

    >>> from avalon_logic.deduction import deduce
    >>> text = "players Ann Bob Cid Dan Eve\\nfirst_leader Ann\\npropose Ann Bob\\nvote + + - + -\\ntally 0"
    >>> found = deduce(text, seat="Eve", role="assassin", saw=["Dan"])
    >>> [(name, str(share)) for name, share in advise_naming(found).seats]
    [('Ann', '1/3'), ('Bob', '1/3'), ('Cid', '1/3')]
    """
    if MERLIN not in result.setting.roles:
        raise RecordError(f"there is no {MERLIN} in this game")
    if not result.possible:
        raise RecordError("no deal is possible, so there is nothing to advise")
    seats = [(p.name, p.roles[MERLIN]) for p in result.players if MERLIN in p.roles]
    return NamingAdvice(tuple(sorted(seats, key=lambda seat: -seat[1])), result)


def holds_killer(result: Result) -> bool:
    """Does the viewer hold the card that names Merlin?"""
    viewer, model = result.inquiry.viewer, result.setting.model
    if viewer is None or KILLERS not in model.definitions:
        return False
    killers = m.Invoke(KILLERS, (), model.definitions[KILLERS].type)
    is_one = m.Apply("in", (m.Literal(viewer, model.players), killers), BOOL)
    return all(part is True for b in result.inquiry.beliefs for part in fact_parts(b, is_one))


# --- what a quest would tell ---


def _card_setting(setting: Setting) -> Setting:
    """The setting with an assumption about how likely cards are: the one named, else an even one."""
    if any(a.target == CARD and a.kind == "weight" for a in setting.assumed()):
        return setting
    return lay(setting.configuration, setting.names, (*setting.assumptions, EVEN_CARDS))


def _needed(belief: Belief, cards: Setting, given: Mapping[str, Value]) -> int:
    """How many fails the quest needs to fail."""
    model = cards.model
    values = {**belief.values, **{n: encode(model.variables[n].type, v) for n, v in given.items()}}
    needed = m.Invoke(NEEDED, (), model.definitions[NEEDED].type)
    found = cards.machine.program.formulas.value(needed)(Scene(values))
    if not isinstance(found, int):
        raise RecordError("the record leaves open how many fails the next quest needs")
    return found


def _results(
    found: Worlds, belief: Belief, cards: Setting, given: Mapping[str, Value], most: int
) -> tuple[Array, Array] | None:
    """How likely each group of worlds is, and each number of fails in it; None if more than the cards decides."""
    point = cards.machine.program.find(CARD)
    leaves = [
        likelihood(
            belief, cards.machine, point, given, Event(after=(Seen("published", FAILS, n),), until=FAILS)
        )
        for n in range(most + 1)
    ]
    if any(leaf is None for leaf in leaves):
        return None
    table = found.table
    for leaf in leaves:  # first tell apart all that any number of fails tells apart
        if isinstance(leaf, Cell | Tensor):
            table, _ = w.read(table, tensor(leaf))
    by_world = np.zeros((len(table.rows), most + 1))
    for n, leaf in enumerate(leaves):
        if isinstance(leaf, Cell | Tensor):
            by_world[:, n] = w.read(table, tensor(leaf))[1]
        else:
            by_world[:, n] = float(leaf or 0)
    weights = np.ones(len(table.rows)) if table.weights is None else table.weights.copy()
    total = by_world.sum(axis=1)
    weights[total == 0] = 0  # excluded by an assumption about the cards
    return weights / weights.sum(), by_world / np.where(total, total, 1)[:, None]


def _entropies(chances: Array) -> Array:
    """The entropy of every row, in bits."""
    logs = np.log2(np.where(chances > 0, chances, 1))
    return -(chances * logs).sum(axis=-1)  # type: ignore[no-any-return]


def _entropy(chances: Array) -> float:
    return float(_entropies(chances))
