"""The reference interpreter: small, slow, obvious. It *defines* what a model means.

The back ends are compared with it.

All functions take a settled model (every parameter fixed by `settle`) and plain values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rules_dsl import model as m
from rules_dsl.evaluate import Environment, evaluate, holds, key_ordinal, ranges
from rules_dsl.model import Value
from rules_dsl.play import CHANCE, IllegalMove, Move, Observation, Pending, State, Step, Stuck
from rules_dsl.types import MapType
from rules_dsl.values import all_values, from_ordinal, is_value, least

MOST_SILENT_PHASES = 1000


def environment(model: m.Model, state: State) -> Environment:
    """What expressions read in a state."""
    variables = dict(zip(model.variables, state.values, strict=True))
    return Environment(
        model,
        model.players.count,
        variables=variables,
        phase=state.phase,
        over=state.over,
        result=state.result,
    )


def start(model: m.Model) -> Step:
    """The first state in which somebody (or chance) must choose."""
    env = Environment(model, model.players.count)
    values = tuple(evaluate(v.initial, env) for v in model.variables.values())
    return _enter(model, State(model.start, 0, values), model.start, ())


def pending(model: m.Model, state: State) -> Pending | None:
    """Who must choose what, or None when the game is over."""
    if state.over:
        return None
    choice = model.phases[state.phase].choices[state.step]
    return Pending(state.phase, choice, _seats(choice, environment(model, state)))


def _seats(choice: m.Choice, env: Environment) -> tuple[int, ...]:
    chooser = choice.chooser
    if chooser.kind == "chance":
        return (CHANCE,)
    if chooser.kind == "player":
        assert chooser.who is not None
        return (int(evaluate(chooser.who, env)),)  # type: ignore[arg-type]
    over = (m.Range(chooser.seat, env.model.players, chooser.domain),)
    return tuple(
        int(e.bound[chooser.seat])  # type: ignore[arg-type]
        for e in ranges(env, over)
        if holds(chooser.condition, e)
    )


def options(model: m.Model, state: State, seat: int) -> Iterator[Value]:
    """Every value a seat that must choose may choose, the least first; for chance only those with weight."""
    awaited = pending(model, state)
    if awaited is None or seat not in awaited.seats:
        return
    env = environment(model, state)
    choice = awaited.choice
    if choice.optional:
        yield None
    for value in _domain(choice, env):
        inside = _inside(choice, env, seat, value)
        allowed = all(holds(r.condition, inside) for r in choice.requires if r.kind == "require")
        if allowed and (choice.weight is None or evaluate(choice.weight, inside) != 0):
            yield value


def weight(model: m.Model, state: State, value: Value) -> int:
    """How heavily chance weighs a value against the others; arrangements of a deal all weigh the same."""
    awaited = pending(model, state)
    assert awaited is not None
    if awaited.choice.weight is None:
        return 1
    inside = _inside(awaited.choice, environment(model, state), CHANCE, value)
    return int(evaluate(awaited.choice.weight, inside))  # type: ignore[arg-type]


def _domain(choice: m.Choice, env: Environment) -> Iterator[Value]:
    if choice.deal is None:
        yield from all_values(choice.type, env.players)
        return
    assert isinstance(choice.type, MapType)
    counts = evaluate(choice.deal, env)
    assert isinstance(counts, tuple)
    places = len(tuple(all_values(choice.type.key, env.players)))
    kinds = [from_ordinal(choice.type.value, i) for i in range(len(counts))]  # type: ignore[arg-type]
    yield from _arrange(kinds, [int(c) for c in counts], places)  # type: ignore[arg-type]


def _arrange(kinds: list[Value], counts: list[int], places: int) -> Iterator[tuple[Value, ...]]:
    """All distinct ways to lay the cards out, when there are exactly as many cards as places."""
    if places == 0:
        if not any(counts):
            yield ()
        return
    for i, kind in enumerate(kinds):
        if counts[i]:
            counts[i] -= 1
            for rest in _arrange(kinds, counts, places - 1):
                yield (kind, *rest)
            counts[i] += 1


def _inside(choice: m.Choice, env: Environment, seat: int, value: Value) -> Environment:
    bound: dict[str, Value] = {choice.variable: value}
    if choice.chooser.seat:
        bound[choice.chooser.seat] = seat
    return env.bind(**bound)


def step(model: m.Model, state: State, move: Move) -> Step:
    """Plays a move; raises `IllegalMove` and changes nothing if the rules refuse it."""
    awaited = pending(model, state)
    if awaited is None:
        raise IllegalMove("the game is over")
    choice = awaited.choice
    env = environment(model, state)
    breaches = _check_move(choice, awaited, env, move)
    variables = dict(env.variables)
    seen = list(_choose(model, state.phase, choice, awaited, env, variables, move))
    changed = replace(state, values=tuple(variables.values()))
    done = _onward(model, changed, state.step + 1, tuple(seen))
    return replace(done, breaches=tuple(breaches))


def _check_move(choice: m.Choice, awaited: Pending, env: Environment, move: Move) -> list[m.Require]:
    seats = tuple(seat for seat, _ in move)
    if choice.chooser.kind == "one":
        if len(seats) != 1 or seats[0] not in awaited.seats:
            raise IllegalMove(f"one of seats {list(awaited.seats)} chooses {choice.variable}", choice=choice)
    elif tuple(sorted(seats)) != awaited.seats:
        raise IllegalMove(
            f"seats {list(awaited.seats)} choose {choice.variable}, not {list(seats)}", choice=choice
        )
    breaches: list[m.Require] = []
    for seat, value in move:
        breaches += check_value(choice, env, seat, value)
    return breaches


def check_value(choice: m.Choice, env: Environment, seat: int, value: Value) -> list[m.Require]:
    """The "ought" requirements a value breaks; raises `IllegalMove` if it breaks another or is no value."""
    if value is None and choice.optional:
        return []
    if not is_value(choice.type, value, env.players):
        raise IllegalMove(f"{value!r} is not a value of {choice.type} for {choice.variable}", choice=choice)
    inside = _inside(choice, env, seat, value)
    if choice.deal is not None:
        counts = evaluate(choice.deal, env)
        assert isinstance(counts, tuple)
        assert isinstance(value, tuple)
        assert isinstance(choice.type, MapType)
        dealt = tuple(value.count(from_ordinal(choice.type.value, i)) for i in range(len(counts)))  # type: ignore[arg-type]
        if dealt != counts:
            raise IllegalMove(f"{choice.variable} is not an arrangement of the deck", choice=choice)
    breaches: list[m.Require] = []
    for requirement in choice.requires:
        if not holds(requirement.condition, inside):
            if requirement.kind == "require":
                raise IllegalMove(
                    requirement.text or f"{choice.variable} may not be {value!r}", requirement, choice
                )
            breaches.append(requirement)
    if choice.weight is not None and evaluate(choice.weight, inside) == 0:
        raise IllegalMove(f"{value!r} cannot come up for {choice.variable}", choice=choice)
    return breaches


def _choose(
    model: m.Model,
    phase: str,
    choice: m.Choice,
    awaited: Pending,
    env: Environment,
    variables: dict[str, Value],
    move: Move,
) -> Iterator[Observation]:
    """Writes what was chosen into the variables and says who sees it."""
    name = choice.variable
    kind = choice.chooser.kind
    if kind == "each":
        type_ = model.variables[name].type
        entries = list(least(type_))  # type: ignore[arg-type]
        for seat, value in move:
            entries[seat] = value
        variables[name] = tuple(entries)
    else:
        variables[name] = move[0][1]
    if kind == "one":
        variables[f"{name}_by"] = move[0][0]
    for seat, value in sorted(move, key=lambda entry: entry[0]):
        if choice.audience.kind == "own" and kind != "each":
            assert isinstance(value, tuple)
            for owner, entry in enumerate(value):
                yield Observation(phase, "choice", name, owner, entry, frozenset({owner}))
            continue
        yield Observation(
            phase, "choice", name, None if seat == CHANCE else seat, value, _audience(choice, env, seat)
        )


def _audience(choice: m.Choice, env: Environment, seat: int) -> frozenset[int] | None:
    if choice.audience.kind == "public":
        return None
    chooser = frozenset() if seat == CHANCE else frozenset({seat})
    if choice.audience.to is None:
        return chooser
    inside = env.bind(**{choice.chooser.seat: seat}) if choice.chooser.seat else env
    return chooser | evaluate(choice.audience.to, inside)  # type: ignore[operator]


def _enter(model: m.Model, state: State, phase: str, seen: tuple[Observation, ...]) -> Step:
    """Enters a phase, or passes it over, and goes on to the next choice."""
    for _ in range(MOST_SILENT_PHASES):
        declared = model.phases[phase]
        here = replace(state, phase=phase, step=0)
        if not holds(declared.when, environment(model, here)):
            phase = declared.otherwise
            continue
        entered = Observation(phase, "phase", phase, None, None)
        done = _through(model, here, 0, (*seen, entered))
        if isinstance(done, Step):
            return done
        state, phase, seen = done
    raise Stuck(f"nobody chooses anything any more around phase '{phase}'")


def _onward(model: m.Model, state: State, index: int, seen: tuple[Observation, ...]) -> Step:
    """From a choice on: to the next choice somebody really has, in this phase or in another."""
    done = _through(model, state, index, seen)
    return done if isinstance(done, Step) else _enter(model, *done)


def _through(
    model: m.Model, state: State, index: int, seen: tuple[Observation, ...]
) -> Step | tuple[State, str, tuple[Observation, ...]]:
    """From a choice on: to the next choice somebody really has in this phase, or through the effects to its end.

    Where it leads to another phase: the state, that phase and what was seen.
    """
    phase = model.phases[state.phase]
    while index < len(phase.choices):
        choice = phase.choices[index]
        here = replace(state, step=index)
        env = environment(model, here)
        if holds(choice.when, env) and _seats(choice, env):
            return Step(here, seen)
        state = _passed_over(model, here, choice)
        index += 1
    variables = dict(zip(model.variables, state.values, strict=True))
    observed: list[Observation] = []
    ending = _run(model, phase, phase.body, variables, observed)
    done = replace(state, step=0, values=tuple(variables.values()))
    if isinstance(ending, m.Next):
        return done, ending.phase, (*seen, *observed)
    assert isinstance(ending, m.Win)
    result = None if ending.value is None else evaluate(ending.value, _env(model, phase, variables))
    observed.append(Observation(phase.name, "result", "result", None, result))
    return Step(replace(done, over=True, result=result), (*seen, *observed))


def _passed_over(model: m.Model, state: State, choice: m.Choice) -> State:
    variables = dict(zip(model.variables, state.values, strict=True))
    variables[choice.variable] = least(model.variables[choice.variable].type)
    if choice.chooser.kind == "one":
        variables[f"{choice.variable}_by"] = 0
    return replace(state, values=tuple(variables.values()))


def _env(model: m.Model, phase: m.Phase, variables: Mapping[str, Value]) -> Environment:
    return Environment(model, model.players.count, variables=variables, phase=phase.name)


def _run(
    model: m.Model,
    phase: m.Phase,
    body: tuple[m.Statement, ...],
    variables: dict[str, Value],
    observed: list[Observation],
) -> m.Next | m.Win | None:
    """Does statements in order, each seeing what those before it changed, until one ends the phase."""
    for statement in body:
        env = _env(model, phase, variables)
        match statement:
            case m.Next() | m.Win():
                return statement
            case m.If():
                branch = statement.then if holds(statement.condition, env) else statement.otherwise
                ending = _run(model, phase, branch, variables, observed)
                if ending is not None:
                    return ending
            case m.Assign():
                value = evaluate(statement.value, env)
                old = variables[statement.variable]
                type_ = model.variables[statement.variable].type
                keys = [evaluate(k, env) for k in statement.keys]
                variables[statement.variable] = _changed(type_, old, keys, value)
                if statement.published:
                    observed.append(Observation(phase.name, "published", statement.variable, None, value))
            case m.Show():
                for e in ranges(env, (m.Range(statement.seat, model.players, statement.domain),)):
                    if holds(statement.condition, e):
                        seat = e.bound[statement.seat]
                        assert isinstance(seat, int)
                        shown = evaluate(statement.value, e)
                        observed.append(
                            Observation(phase.name, "shown", statement.name, seat, shown, frozenset({seat}))
                        )
    return None


def _changed(type_: m.Type, old: Value, keys: list[Value], value: Value) -> Value:
    """The old value with one entry, or the whole, replaced."""
    if not keys:
        return value
    assert isinstance(old, tuple)
    place = key_ordinal(type_, keys[0])
    inner = type_.value if isinstance(type_, MapType) else type_
    return (*old[:place], _changed(inner, old[place], keys[1:], value), *old[place + 1 :])


def visible(model: m.Model, state: State, seat: int | None) -> dict[str, Value]:
    """The variables a seat sees (None: a spectator): public ones, its own entries, what it is let see."""
    env = environment(model, state)
    found: dict[str, Value] = {}
    for (name, variable), value in zip(model.variables.items(), state.values, strict=True):
        match variable.audience.kind:
            case "public":
                found[name] = value
            case "own" if seat is not None:
                assert isinstance(value, tuple)
                found[name] = value[seat]
            case "to" if seat is not None and variable.audience.to is not None:
                if seat in evaluate(variable.audience.to, env):  # type: ignore[operator]
                    found[name] = value
            case _:
                pass
    return found
