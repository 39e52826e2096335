"""Guesses about all states of a game, made from templates over its variables; the prover keeps those it can prove.

A guess is an expression of the language with a sentence. Bounds and constants are taken from the states of random
games, so a guess is never contradicted by a state that was seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from proofs.samples import Sample, sample_environment
from rules_dsl import model as m
from rules_dsl.evaluate import Environment, evaluate, holds
from rules_dsl.model import Value
from rules_dsl.play import State
from rules_dsl.smt import Place
from rules_dsl.smt.execute import CIRCLE, passed_in_a_circle
from rules_dsl.types import (
    BOOL,
    BoolType,
    EnumType,
    IndexType,
    IntType,
    MapType,
    OptionalType,
    PlayerType,
    SetType,
    cardinality,
)
from rules_dsl.values import least
from rules_dsl.walk import rebuild


@dataclass(frozen=True)
class Lemma:
    """A claim about every state, or about every state at one place. `declared` names the property it is, if any.

    `at_rest`: it says nothing of states in which a run only halts and nobody chooses.
    """

    text: str
    value: m.Expr
    declared: str = ""
    place: Place | None = None
    at_rest: bool = False


def place_of(state: State) -> Place:
    return Place(state.phase, None if state.over else state.step)


def apply(operation: str, *arguments: m.Expr, type_: m.Type = BOOL) -> m.Expr:
    return m.Apply(operation, arguments, type_)


def number_literal(value: int) -> m.Expr:
    return m.Literal(value, IntType(value, value))


def guesses(model: m.Model, seen: Sequence[Sample]) -> list[Lemma]:
    """All guesses no sampled state contradicts, each once."""
    envs = [sample_environment(model, s) for s in seen]
    groups: dict[Place | None, list[int]] = {None: list(range(len(seen)))}
    for i, sample in enumerate(seen):
        groups.setdefault(place_of(sample.state), []).append(i)
    made: dict[tuple[m.Expr, Place | None], Lemma] = {}
    if any(passed_in_a_circle(model, phase) for phase in model.phases.values()):
        circle = Lemma(
            "phases are never passed over in a circle", m.Literal(False, BOOL), place=Place(CIRCLE, None)
        )
        made[circle.value, circle.place] = circle

    everywhere = list(_shapes(model))
    local = list(_local_shapes(model))
    for place, places in groups.items():
        prefix = _prefix(model, place)
        here = [envs[i] for i in places]
        states = [dict(e.variables) for e in here]
        # constants are taken from states that were seen; where none was, there are none to take
        fitted = [*_fitted(model, states), *_watched_modules(model, here)] if here else []
        for text, claim in (*fitted, *(_sums(model, states) if place is None and here else ())):
            made.setdefault((claim, place), Lemma(prefix + text, claim, place=place))
        for text, claim in local if place is not None else [*everywhere, *local]:
            if all(holds(claim, env) for env in here):
                made.setdefault((claim, place), Lemma(prefix + text, claim, place=place))
    return list(made.values())


def _prefix(model: m.Model, place: Place | None) -> str:
    if place is None:
        return ""
    if place.step is None:
        return f"over in {place.phase}: "
    choices = model.phases[place.phase].choices
    due = f", {choices[place.step].variable} due" if len(choices) > 1 else ""
    return f"in {place.phase}{due}: "


# --- claims whose constants come from the states seen ---


def numbers(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    """Everything in a state that is a number: variables, sizes of sets, how often a map has a value."""
    for name, variable in model.variables.items():
        here = m.Variable(name, variable.type)
        match variable.type:
            case IntType():
                yield name, here
            case SetType(PlayerType(count)):
                yield f"size({name})", apply("size", here, type_=IntType(0, count))
            case MapType(key, EnumType(_, members) as kind) if not isinstance(key, PlayerType):
                for member in members:
                    yield f"count({name} is {member})", _tally(here, key, kind, member)
            case _:
                pass


def _tally(map_: m.Expr, key: IndexType, kind: EnumType, member: str) -> m.Expr:
    entry = m.At(map_, m.Bound("k", key), kind)
    condition = apply("eq", entry, m.Literal(member, kind))
    return m.Quantify("count", (m.Range("k", key, None),), condition, None, IntType(0, cardinality(key)))


def _fitted(model: m.Model, states: list[dict[str, Value]]) -> Iterator[tuple[str, m.Expr]]:
    """Bounds and constants that fit all these states exactly."""
    for text, term in numbers(model):
        found = [int(evaluate(term, Environment(model, 0, variables=s))) for s in states]  # type: ignore[arg-type]
        assert isinstance(term.type, IntType)
        low, high = min(found), max(found)
        if low == high:
            yield f"{text} == {low}", apply("eq", term, number_literal(low))
            continue
        if low > term.type.low:
            yield f"{text} >= {low}", apply("ge", term, number_literal(low))
        if high < term.type.high:
            yield f"{text} <= {high}", apply("le", term, number_literal(high))
    for name, variable in model.variables.items():
        here = m.Variable(name, variable.type)
        values = {s[name] for s in states}
        match variable.type:
            case BoolType():
                if values == {True}:
                    yield name, here
                elif values == {False}:
                    yield f"not {name}", apply("not", here)
            case EnumType(_, members) as kind:
                for member in members:
                    if member not in values:
                        yield f"{name} != {member}", apply("ne", here, m.Literal(member, kind))
            case OptionalType():
                none = apply("is_none", here)
                if values == {None}:
                    yield f"{name} is none", none
                elif None not in values:
                    yield f"{name} is not none", apply("not", none)
            case _:
                pass


def _sums(model: m.Model, states: list[dict[str, Value]]) -> Iterator[tuple[str, m.Expr]]:
    """How large two numbers get together."""
    for (t1, a), (t2, b) in combinations(list(_plain_numbers(model)), 2):
        sums = {int(s[t1]) + int(s[t2]) for s in states}  # type: ignore[arg-type]
        assert isinstance(a.type, IntType)
        assert isinstance(b.type, IntType)
        if max(sums) < a.type.high + b.type.high:
            total = apply("add", a, b, type_=IntType(a.type.low + b.type.low, a.type.high + b.type.high))
            yield f"{t1} + {t2} <= {max(sums)}", apply("le", total, number_literal(max(sums)))


def _plain_numbers(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    for name, variable in model.variables.items():
        if isinstance(variable.type, IntType) and variable.type.high <= 8:
            yield name, m.Variable(name, variable.type)


# --- claims by shape ---


def _shapes(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    """Claims that make sense of all states."""
    yield from _equalities(model)
    yield from _dealt(model)
    yield from _in_order(model)
    yield from _module_words(model)


def _local_shapes(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    """Claims that make sense of the states at one place."""
    yield from _kept_requirements(model)
    yield from _dealt_later(model)
    yield from _entered(model)
    yield from _memberships(model)
    for name, variable in model.variables.items():
        here = m.Variable(name, variable.type)
        match variable.type:
            case MapType(PlayerType() as key, inner) if variable.initial == _least_map(variable.type):
                # said entry by entry, because there are as many entries as players
                entry = m.At(here, m.Bound("k", key), inner)
                blank = apply("eq", entry, m.Literal(least(inner), inner))
                yield (
                    f"{name} as at the start",
                    m.Quantify("all", (m.Range("k", key, None),), blank, None, BOOL),
                )
            case SetType() | PlayerType() | EnumType():
                yield f"{name} as at the start", apply("eq", here, variable.initial)


def _least_map(type_: MapType) -> m.Expr:
    return m.Literal(least(type_), type_)


def _watched_modules(model: m.Model, envs: Sequence[Environment]) -> Iterator[tuple[str, m.Expr]]:
    """What is true exactly where a module is in."""
    modules = [p.name for p in model.params.values() if p.kind == "module"]
    for name, variable in model.variables.items():
        if not isinstance(variable.type, BoolType) or len({e.variables[name] for e in envs}) < 2:
            continue
        for module in modules:
            if {e.variables[name] for e in envs if e.params[module]} == {True}:
                claim = apply("implies", m.Parameter(module, BOOL), m.Variable(name, BOOL))
                yield f"with {module.removeprefix('with_')}: {name}", claim


def _kept_requirements(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    """What a choice required still holds of it later on."""
    for phase in model.phases.values():
        for choice in phase.choices:
            variable = model.variables[choice.variable]
            for rule in choice.requires:
                if rule.kind != "require" or choice.optional:
                    continue
                kept = _of_variable(rule.condition, choice, variable)
                if choice.when is not None:  # a choice passed over was bound by nothing
                    kept = apply("implies", choice.when, kept)
                yield f"{choice.variable} as required ({rule.text})", kept


def _of_variable(condition: m.Expr, choice: m.Choice, variable: m.StateVariable) -> m.Expr:
    """The requirement said of the variable the choice was written to."""
    whole = m.Variable(choice.variable, variable.type)
    chooser = choice.chooser
    chosen: m.Expr = whole
    if chooser.kind == "each" and isinstance(variable.type, MapType):
        chosen = m.At(whole, m.Bound(chooser.seat, variable.type.key), variable.type.value)

    def change(expr: m.Expr) -> m.Expr:
        if isinstance(expr, m.Bound) and expr.name == choice.variable:
            return chosen
        if isinstance(expr, m.Bound) and chooser.kind == "one" and expr.name == chooser.seat:
            return m.Variable(f"{choice.variable}_by", expr.type)
        return rebuild(expr, change)

    said = change(condition)
    if chooser.kind != "each" or not isinstance(variable.type, MapType):
        return said
    if chooser.condition is not None:
        said = apply("implies", chooser.condition, said)
    return m.Quantify("all", (m.Range(chooser.seat, variable.type.key, chooser.domain),), said, None, BOOL)


def _entered(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    """A phase entered under a condition is stood in only under it."""
    for name, phase in model.phases.items():
        if phase.when is not None and phase.choices:
            yield f"what '{name}' is entered for", phase.when
        for choice in phase.choices:
            if choice.when is not None:
                yield f"what '{choice.variable}' is chosen for", choice.when


def _equalities(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    for (t1, a), (t2, b) in combinations(list(numbers(model)), 2):
        yield f"{t1} == {t2}", apply("eq", a, b)
        yield f"{t1} <= {t2}", apply("le", a, b)
        yield f"{t2} <= {t1}", apply("le", b, a)


def _dealt(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    """Once dealt, there are as many of each kind as the deck had."""
    for phase, text, whole in _arrangements(model):
        yield text, apply("implies", apply("not", m.InPhase(phase)), whole)


def _dealt_later(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    """The same, place by place, where something else comes before the deal."""
    for phase, text, whole in _arrangements(model):
        if phase != model.start:
            yield text, whole


def _arrangements(model: m.Model) -> Iterator[tuple[str, str, m.Expr]]:
    """For each deal its phase, and that as many of each kind lie there as the deck has."""
    for phase in model.phases.values():
        for choice in phase.choices:
            if choice.deal is None or not isinstance(choice.type, MapType):
                continue
            map_ = m.Variable(choice.variable, choice.type)
            kind, key = choice.type.value, choice.type.key
            if not isinstance(kind, EnumType) or not isinstance(choice.deal.type, MapType):
                continue
            each = m.Bound("kind", kind)
            lies = apply("eq", m.At(map_, m.Bound("k", key), kind), each)
            many = m.Quantify("count", (m.Range("k", key, None),), lies, None, IntType(0, cardinality(key)))
            equal = apply("eq", many, m.At(choice.deal, each, choice.deal.type.value))
            whole = m.Quantify("all", (m.Range("kind", kind, None),), equal, None, BOOL)
            yield phase.name, f"{choice.variable} is an arrangement of the deck", whole


def _memberships(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    """A seat in or not in a set of seats, one set within another, two seats the same or not."""
    seats = [n for n, v in model.variables.items() if isinstance(v.type, PlayerType)]
    sets = [n for n, v in model.variables.items() if isinstance(v.type, SetType)]
    for seat in seats:
        who = m.Variable(seat, model.variables[seat].type)
        for name in sets:
            type_ = model.variables[name].type
            if isinstance(type_, SetType) and type_.element == who.type:
                inside = apply("in", who, m.Variable(name, type_))
                yield f"{seat} not in {name}", apply("not", inside)
                yield f"{seat} in {name}", inside
    for one, other in combinations(seats, 2):
        equal = apply("eq", *(m.Variable(x, model.variables[x].type) for x in (one, other)))
        yield f"{one} == {other}", equal
        yield f"{one} != {other}", apply("not", equal)
    for one, other in combinations(sets, 2):
        a, b = (m.Variable(x, model.variables[x].type) for x in (one, other))
        if a.type == b.type:
            yield f"{one} within {other}", apply("subset", a, b)
            yield f"{other} within {one}", apply("subset", b, a)


def _in_order(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    """The entries of a map by number have one value exactly up to a number that is counted."""
    counters = [x for x in numbers(model) if isinstance(x[1], m.Variable)]
    pairs = [*counters]
    for (t1, a), (t2, b) in combinations(counters, 2):
        assert isinstance(a.type, IntType)
        assert isinstance(b.type, IntType)
        both = IntType(a.type.low + b.type.low, a.type.high + b.type.high)
        pairs.append((f"{t1} + {t2}", apply("add", a, b, type_=both)))
    for name, variable in model.variables.items():
        if not isinstance(variable.type, MapType) or not isinstance(variable.type.key, IntType):
            continue
        key, kind = variable.type.key, variable.type.value
        if not isinstance(kind, EnumType):
            continue
        entry = m.At(m.Variable(name, variable.type), m.Bound("k", key), kind)
        for member in kind.members:
            is_member = apply("eq", entry, m.Literal(member, kind))
            for text, term in pairs:
                beyond = apply("gt", m.Bound("k", key), term)
                claim = m.Quantify(
                    "all", (m.Range("k", key, None),), apply("iff", is_member, beyond), None, BOOL
                )
                yield f"{name} is {member} exactly beyond {text}", claim
                for guard, prefix in _module_guards(model):
                    yield f"{prefix}{name} is {member} exactly beyond {text}", apply("implies", guard, claim)


def _module_guards(model: m.Model) -> Iterator[tuple[m.Expr, str]]:
    for name, param in model.params.items():
        if param.kind == "module":
            here = m.Parameter(name, BOOL)
            yield apply("not", here), f"without {name.removeprefix('with_')}: "


def _module_words(model: m.Model) -> Iterator[tuple[str, m.Expr]]:
    """Without its module a variable keeps its first value."""
    for name, variable in model.variables.items():
        here = m.Variable(name, variable.type)
        for guard, prefix in _module_guards(model):
            yield f"{prefix}{name} untouched", apply("implies", guard, apply("eq", here, variable.initial))
