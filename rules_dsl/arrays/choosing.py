"""A choice being made, for all cases at once: who chooses, what is known of it, what the rules demand of it.

`choose` writes the variable chosen into a path and adds the conditions under which the choice was possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rules_dsl import model as m
from rules_dsl.arrays.columns import Cell, Leaf, Tensor, both, cells, either, equal, negated
from rules_dsl.arrays.event import SOMEBODY, Deal, Event, Weight
from rules_dsl.arrays.path import Dead, Path, add, implied
from rules_dsl.arrays.program import ChoiceCode
from rules_dsl.arrays.scene import Scene, leaf
from rules_dsl.arrays.shapes import Nest, disjunction, encode, entry, known, leaves, same, select
from rules_dsl.play import CHANCE
from rules_dsl.types import MapType, PlayerType, cardinality
from rules_dsl.values import is_value, least

if TYPE_CHECKING:
    from rules_dsl.arrays.run import Machine


def active(machine: Machine, path: Path, code: ChoiceCode) -> list[Leaf]:
    """For every seat, whether it is among those who choose."""
    scene, seat = path.scene(), code.choice.chooser.seat
    members = code.domain(scene) if code.domain is not None else None
    made: list[Leaf] = []
    for s in range(machine.players):
        there = True if members is None else leaf(entry(members, s))
        made.append(False if there is False else both(there, code.condition(scene.bind(**{seat: s}))))
    return made


def awaited(machine: Machine, path: Path, code: ChoiceCode) -> Leaf:
    when = code.when(path.scene())
    if when is False or code.choice.chooser.kind in ("player", "chance"):
        return when
    return both(when, disjunction(iter(active(machine, path, code))))


def pass_over(path: Path, code: ChoiceCode) -> None:
    path.values[code.choice.variable] = encode(code.variable_type, least(code.variable_type))
    if code.choice.chooser.kind == "one":
        path.values[f"{code.choice.variable}_by"] = 0


def choose(machine: Machine, path: Path, code: ChoiceCode, event: Event) -> None:
    choice = code.choice
    for _, value in event.chosen:
        fits = (value is None and choice.optional) or is_value(choice.type, value, machine.players)
        if not fits:
            raise Dead(choice.origin, f"{value!r} is not a value of {choice.type} for {choice.variable}")
    match choice.chooser.kind:
        case "each":
            choose_each(machine, path, code, event)
        case "one":
            choose_one(machine, path, code, event)
        case _:
            choose_single(machine, path, code, event)


def choose_single(machine: Machine, path: Path, code: ChoiceCode, event: Event) -> None:
    choice, kind = code.choice, code.choice.chooser.kind
    if len(event.chosen) > 1:
        raise Dead(choice.origin, f"only one seat chooses {choice.variable}")
    for seat, _ in event.chosen:
        if seat == SOMEBODY:
            continue
        if kind == "player":
            assert code.who is not None
            who = leaf(code.who(path.scene()))
            add(path, equal(who, seat), choice.origin, f"another seat chooses {choice.variable}")
        elif seat != CHANCE:
            raise Dead(choice.origin, f"nobody but chance chooses {choice.variable}")
    if kind == "player" and event.speaker is not None:
        assert code.who is not None
        who = leaf(code.who(path.scene()))
        add(path, equal(who, event.speaker), choice.origin, f"another seat chooses {choice.variable}")
    if kind == "player" and event.silent:
        assert code.who is not None
        who = leaf(code.who(path.scene()))
        for seat in sorted(event.silent):
            add(path, negated(equal(who, seat)), choice.origin, f"seat {seat} did not choose")
    if code.deal is not None:
        deal(machine, path, code, event)
        return
    value = (
        encode(code.type, event.chosen[0][1])
        if event.chosen
        else machine.supply.free(code.type, choice.variable)
    )
    if not event.chosen and event.entries:
        raise ValueError(f"{choice.variable} is not dealt, so no entries of it can be seen")
    require(machine, path, code, value, {}, True)
    path.values[choice.variable] = value


def deal(machine: Machine, path: Path, code: ChoiceCode, event: Event) -> None:
    assert code.deal is not None and isinstance(code.choice.type, MapType)
    name = code.choice.variable
    counts = code.deal(path.scene())
    if not known(counts):
        raise ValueError(f"the deck that {name} is dealt from is not known")
    numbers = tuple(int(c) for c in leaves(counts))  # type: ignore[arg-type]
    places = cardinality(code.choice.type.key)
    if sum(numbers) != places:
        raise Dead(code.choice.origin, f"the deck for {name} has {sum(numbers)} cards for {places} places")
    deal = machine.dealt.get((name, numbers))
    used = {x for nest in path.values.values() for x in leaves(nest) if isinstance(x, Cell)}
    if deal is None or used & set(deal.cells):
        values = [i for i, n in enumerate(numbers) if n]
        made = tuple(machine.supply.column(values, False, (name, i)) for i in range(places))
        deal = Deal(name, made, tuple(n for n in numbers if n))
        machine.dealt.setdefault((name, numbers), deal)
    path.deals.append(deal)
    nest: list[Nest] = list(deal.cells)
    whole = event.chosen[0][1] if event.chosen else None
    seen = dict(event.entries) if whole is None else dict(enumerate(whole))  # type: ignore[arg-type]
    value_type = code.choice.type.value
    for owner, card in seen.items():
        if not is_value(value_type, card, machine.players):
            raise Dead(code.choice.origin, f"{card!r} is not a value of {value_type} for {name}")
        wanted = leaf(encode(value_type, card))
        add(path, equal(deal.cells[owner], wanted), code.choice.origin, "this card is not in the deck")
        nest[owner] = wanted
    require(machine, path, code, tuple(nest), {}, True)
    path.values[name] = tuple(nest)


def choose_each(machine: Machine, path: Path, code: ChoiceCode, event: Event) -> None:
    choice = code.choice
    acting = active(machine, path, code)
    when = code.when(path.scene())
    idle = encode(code.type, least(code.type))
    chosen = dict(event.chosen)
    entries: list[Nest] = []
    for seat in range(machine.players):
        acts = both(when, acting[seat])
        if seat in chosen:
            add(path, acts, choice.origin, f"seat {seat} has no say in {choice.variable}")
            value: Nest = encode(code.type, chosen[seat])
            acts = True
        elif seat in event.silent:
            add(path, negated(acts), choice.origin, f"seat {seat} did not choose {choice.variable}")
            entries.append(idle)
            continue
        elif acts is False:
            entries.append(idle)
            continue
        else:
            value = machine.supply.free(code.type, choice.variable)
            if acts is not True and machine.weighs:
                # who does not choose must not count once for every value he might have chosen
                for part in same(value, idle):
                    add(path, either(acts, part), choice.origin, "")
        require(machine, path, code, value, {choice.chooser.seat: seat}, acts)
        entries.append(select(acts, value, idle))
    if not set(chosen) <= set(range(machine.players)):
        raise Dead(choice.origin, f"there is no seat {max(chosen)}")
    path.values[choice.variable] = tuple(entries)


def choose_one(machine: Machine, path: Path, code: ChoiceCode, event: Event) -> None:
    choice = code.choice
    if len(event.chosen) > 1:
        raise Dead(choice.origin, f"only one seat chooses {choice.variable}")
    acting: Nest = tuple(active(machine, path, code))
    value = (
        encode(code.type, event.chosen[0][1])
        if event.chosen
        else machine.supply.free(code.type, choice.variable)
    )
    if event.chosen and event.chosen[0][0] != SOMEBODY:
        speaker: Leaf = event.chosen[0][0]
        if not 0 <= event.chosen[0][0] < machine.players:
            raise Dead(choice.origin, f"there is no seat {speaker}")
    elif event.speaker is not None:
        speaker = event.speaker
    else:
        speaker = leaf(machine.supply.free(PlayerType(machine.players), f"{choice.variable}_by"))
        for seat in sorted(event.silent):
            add(path, negated(equal(speaker, seat)), choice.origin, f"seat {seat} did not choose")
    add(
        path,
        leaf(entry(acting, speaker)),
        choice.origin,
        f"seat {speaker} has no say in {choice.variable}",
    )
    require(machine, path, code, value, {choice.chooser.seat: speaker}, True)
    path.values[choice.variable] = value
    path.values[f"{choice.variable}_by"] = speaker


def require(
    machine: Machine, path: Path, code: ChoiceCode, value: Nest, seat: Mapping[str, Nest], acts: Leaf
) -> None:
    """What the rules and the assumptions demand of a value chosen; declining is always allowed."""
    choice = code.choice
    given = True
    bound = value
    if choice.optional:
        assert isinstance(value, tuple)
        given, bound = value  # type: ignore[assignment]
    applies = both(acts, given)
    inside = path.scene().bind(**{choice.variable: bound, **seat})
    for requirement, parts in code.requires:
        for part in parts(inside):
            add(path, implied(applies, part), requirement.origin, requirement.text)
    for duty, parts in code.duties:
        for part in parts(inside):
            path.duties.append((implied(applies, part), duty.origin, duty.text))
    if code.weight is not None:
        possible = negated(equal(leaf(code.weight(inside)), 0))
        add(path, implied(applies, possible), choice.origin, f"this cannot come up for {choice.variable}")
    for assumption in machine.assumed.get(choice.variable, ()):
        whole = path.scene().bind(**{choice.variable: value})
        if assumption.seat:
            who = seat.get(choice.chooser.seat) if seat else None
            if who is None:
                if code.who is None:
                    raise ValueError(f"nobody in particular chooses {choice.variable}")
                who = code.who(path.scene())
            whole = whole.bind(**{assumption.seat: who})
        assume(machine, path, assumption, whole, acts, value)


def assume(
    machine: Machine, path: Path, assumption: m.Assumption, scene: Scene, applies: Leaf, value: Nest
) -> None:
    """Takes an assumption into account."""
    formulas = machine.program.formulas
    if assumption.kind == "require":
        for part in formulas.parts(assumption.value)(scene):
            add(path, implied(applies, part), assumption.origin, assumption.text)
        return
    likelihood = leaf(select(applies, formulas.value(assumption.value)(scene), 100))
    if not isinstance(likelihood, Cell | Tensor) and likelihood == 0:
        raise Dead(assumption.origin, assumption.text)
    unseen = tuple(dict.fromkeys(c for x in leaves(value) for c in cells(x) if c.free))
    path.weights.append(Weight(likelihood, unseen))
