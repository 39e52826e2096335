"""Which rules do the properties depend on? A rule is dropped, and every proof and every game found is looked at again.

A rule that can be dropped without any proof failing is not covered by a proof. It may still be used by the game that
shows a claim: without the rule the moves of that game are illegal or no longer show it. A rule neither a proof nor a
game needs is not covered: nothing that was decided says anything about it. Takes a family; gives every rule with the
first property that notices its absence, if one does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from proofs.clock import Clock, OutOfTime
from proofs.families import Family, speaks_of_knowing
from proofs.induction import Induction
from proofs.lemmas import Lemma
from proofs.prover import Options, Session, prove
from proofs.replays import holds_at_end
from proofs.verdicts import Verdict
from rules_dsl import model as m
from rules_dsl import reference
from rules_dsl.play import IllegalMove, Stuck
from rules_dsl.settle import settle
from rules_dsl.smt import System, compile_smt, finite_solver
from rules_dsl.smt.terms import not_, term
from rules_dsl.types import BOOL
from rules_dsl.values import least
from rules_dsl.walk import choice_expressions, every, statement_expressions, statements


@dataclass(frozen=True)
class Rule:
    """Something a rulebook says that can be left out."""

    kind: str  # "requirement", "effect", "showing", "condition", "check" or "definition"
    where: str
    text: str
    origin: m.Origin
    without: Callable[[m.Model], m.Model]


@dataclass(frozen=True)
class Coverage:
    """A rule and the property that depends on it, by its "proof" or by the "game" that shows it; None if none does,
    or, where `by` is "undecided", none was found in the time given.
    """

    rule: Rule
    property: str | None
    by: str = ""


def rules_of(model: m.Model, ghosts: Sequence[str]) -> Iterator[Rule]:
    """Every rule of the model that can be dropped, but those of the modules of claims."""
    for phase in model.phases.values():
        for i, choice in enumerate(phase.choices):
            for k, rule in enumerate(choice.requires):
                if rule.kind == "require":
                    yield Rule(
                        "requirement", phase.name, rule.text, rule.origin, _no_requirement(phase.name, i, k)
                    )
            if not _only_the_module(model, choice.when) and choice.origin.module not in ghosts:
                text = f"when {choice.variable} is chosen"
                yield Rule("condition", phase.name, text, choice.origin, _always_chosen(phase.name, i))
        if not _only_the_module(model, phase.when):
            text = "when the phase takes place"
            yield Rule("condition", phase.name, text, phase.origin, _always_entered(phase.name))
        for path, statement in _statements(phase.body):
            if isinstance(statement, m.Assign | m.Show) and statement.origin.module not in ghosts:
                name = statement.variable if isinstance(statement, m.Assign) else statement.name
                kind = "effect" if isinstance(statement, m.Assign) else "showing"
                yield Rule(kind, phase.name, name, statement.origin, _no_statement(phase.name, path))
    for i, check in enumerate(model.checks):
        # a warning or a note refuses nothing; that a module is in whose cards are is no rule of a book
        if check.severity == "error" and not _says_module_is_in(model, check.condition):
            yield Rule("check", "", check.text, check.origin, _no_check(i))
    played = _called(model, _expressions(model))
    for name, definition in model.definitions.items():
        # what only a default of a parameter calls says what is on the table, not what may happen there
        if definition.origin.module not in ghosts and "@" not in name and name in played:
            yield Rule("definition", "", name, definition.origin, _no_definition(name))


def _module_switch(model: m.Model, condition: m.Expr | None) -> m.Expr | None:
    """The part of a condition that only says that its module is in: dropping a rule leaves that alone."""
    match condition:
        case m.Parameter(name) if model.params[name].kind == "module":
            return condition
        case m.Apply("and", (first, _)):
            return _module_switch(model, first)
        case _:
            return None


def _says_module_is_in(model: m.Model, condition: m.Expr) -> bool:
    match condition:
        case m.Apply("or", (m.Parameter(name), _)):
            return model.params[name].kind == "module"
        case _:
            return False


def _only_the_module(model: m.Model, condition: m.Expr | None) -> bool:
    return condition is None or condition == _module_switch(model, condition)


def _expressions(model: m.Model) -> Iterator[m.Expr]:
    """Everything the rules of play and of the set-up say."""
    yield from (check.condition for check in model.checks)
    for variable in model.variables.values():
        yield variable.initial
        if variable.audience.to is not None:
            yield variable.audience.to
    for phase in model.phases.values():
        if phase.when is not None:
            yield phase.when
        for choice in phase.choices:
            yield from choice_expressions(choice)
        for statement in statements(phase.body):
            yield from statement_expressions(statement)


def _called(model: m.Model, said: Iterable[m.Expr]) -> set[str]:
    """The definitions called there, and those they call in turn."""
    found: set[str] = set()
    queue = list(said)
    while queue:
        for part in every(queue.pop()):
            if isinstance(part, m.Invoke) and part.definition not in found:
                found.add(part.definition)
                queue.append(model.definitions[part.definition].value)
    return found


def _showings(model: m.Model) -> Iterator[m.Show]:
    for phase in model.phases.values():
        yield from (x for x in statements(phase.body) if isinstance(x, m.Show))


def _statements(
    body: tuple[m.Statement, ...], path: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], m.Statement]]:
    for i, statement in enumerate(body):
        yield (*path, i), statement
        if isinstance(statement, m.If):
            yield from _statements(statement.then, (*path, i, 0))
            yield from _statements(statement.otherwise, (*path, i, 1))


def _in_phase(model: m.Model, name: str, change: Callable[[m.Phase], m.Phase]) -> m.Model:
    return replace(model, phases={**model.phases, name: change(model.phases[name])})


def _in_choice(name: str, index: int, change: Callable[[m.Choice], m.Choice]) -> Callable[[m.Model], m.Model]:
    def phase(old: m.Phase) -> m.Phase:
        choices = list(old.choices)
        choices[index] = change(choices[index])
        return replace(old, choices=tuple(choices))

    return lambda model: _in_phase(model, name, phase)


def _no_requirement(name: str, index: int, rule: int) -> Callable[[m.Model], m.Model]:
    return _in_choice(
        name, index, lambda c: replace(c, requires=(*c.requires[:rule], *c.requires[rule + 1 :]))
    )


def _always_chosen(name: str, index: int) -> Callable[[m.Model], m.Model]:
    def change(model: m.Model) -> m.Model:
        dropped = _in_choice(name, index, lambda c: replace(c, when=_module_switch(model, c.when)))
        return dropped(model)

    return change


def _always_entered(name: str) -> Callable[[m.Model], m.Model]:
    def change(model: m.Model) -> m.Model:
        return _in_phase(model, name, lambda old: replace(old, when=_module_switch(model, old.when)))

    return change


def _no_statement(name: str, path: tuple[int, ...]) -> Callable[[m.Model], m.Model]:
    def cut(body: tuple[m.Statement, ...], left: tuple[int, ...]) -> tuple[m.Statement, ...]:
        here, rest = left[0], left[1:]
        if not rest:
            return (*body[:here], *body[here + 1 :])
        inner = body[here]
        assert isinstance(inner, m.If)
        if rest[0] == 0:
            inner = replace(inner, then=cut(inner.then, rest[1:]))
        else:
            inner = replace(inner, otherwise=cut(inner.otherwise, rest[1:]))
        return (*body[:here], inner, *body[here + 1 :])

    return lambda model: _in_phase(model, name, lambda old: replace(old, body=cut(old.body, path)))


def _no_check(index: int) -> Callable[[m.Model], m.Model]:
    return lambda model: replace(model, checks=(*model.checks[:index], *model.checks[index + 1 :]))


def _no_definition(name: str) -> Callable[[m.Model], m.Model]:
    def change(model: m.Model) -> m.Model:
        old = model.definitions[name]
        value: m.Expr = m.Literal(least(old.type), old.type)
        if old.type == BOOL:
            value = m.Apply("not", (old.value,), BOOL)
        return replace(model, definitions={**model.definitions, name: replace(old, value=value)})

    return change


def coverage(family: Family, options: Options) -> Iterator[Coverage]:
    """Every rule of a family, with the property that depends on it."""
    session = Session(family.name, family.model, options)
    try:
        session.prepare()
    except OutOfTime:
        yield from (Coverage(rule, None, "undecided") for rule in rules_of(family.model, family.watchers))
        return
    verdicts = list(prove(family.model, family.name, options, session))
    mentioned = {text for v in verdicts for text in v.lemmas}
    kept = [c for c in session.proved if c.declared or c.text in mentioned]
    system = session.prepare()
    for rule in rules_of(family.model, family.watchers):
        if rule.kind != "check" or _refuses(rule.without(family.model), system, Clock.of(options.seconds)):
            yield _noticed(family, rule, kept, verdicts, options)


def _refuses(changed: m.Model, system: System, clock: Clock) -> bool:
    """Is there a table that a set-up check refuses, and nothing else does? In a game without special roles a check of
    them says nothing.
    """
    solver = finite_solver()
    solver.add(term(compile_smt(changed).valid), term(not_(system.valid)))
    try:
        return clock.check(solver)
    except OutOfTime:
        return True


def _noticed(
    family: Family, rule: Rule, kept: Sequence[Lemma], verdicts: Sequence[Verdict], options: Options
) -> Coverage:
    changed = rule.without(family.model)
    undecided = any(v.undecided for v in verdicts)
    try:
        lost = _lost_proof(changed, kept, Clock.of(options.seconds))
    except OutOfTime:
        lost, undecided = None, True
    if lost is None and _decides_what_is_shown(family.model, rule):
        lost = _decided_otherwise(family, changed, verdicts, options)
    if lost is not None:
        return Coverage(rule, lost, "proof")
    said_to_happen_first = sorted(verdicts, key=lambda v: v.claim.kind != "reachable")
    for verdict in said_to_happen_first:
        if verdict.game is not None and not _still_shows(changed, verdict):
            return Coverage(rule, verdict.name, "game")
    return Coverage(rule, None, "undecided" if undecided else "")


def _lost_proof(changed: m.Model, kept: Sequence[Lemma], clock: Clock) -> str | None:
    """A claim that was proved by induction and no longer is."""
    with clock.within():
        proof = Induction(compile_smt(changed), kept)
        proof.drop_false_at_start(clock)
        proof.drop_not_kept(clock)
    gone = (claim for i, claim in enumerate(kept) if i not in proof.alive)
    return next((claim.declared for claim in gone if claim.declared), None)


def _still_shows(changed: m.Model, verdict: Verdict) -> bool:
    """Do the moves of the game found make a game that shows the same, without the rule?"""
    game, value = verdict.game, verdict.claim.value
    assert game is not None
    try:
        settled = settle(changed, game.params)
        if settled.errors:
            return False
        steps = [reference.start(settled.model)]
        for move in game.moves:
            steps.append(reference.step(settled.model, steps[-1].state, move))
    except (IllegalMove, Stuck):
        return False
    states = tuple(step.state for step in steps)
    if value is None or speaks_of_knowing(verdict.claim):
        return states == game.states
    return holds_at_end(changed, replace(game, states=states), value) == (verdict.claim.kind == "reachable")


def _decides_what_is_shown(model: m.Model, rule: Rule) -> bool:
    said = (e for show in _showings(model) for e in statement_expressions(show))
    return rule.kind == "showing" or (rule.kind == "definition" and rule.text in _called(model, said))


def _decided_otherwise(
    family: Family, changed: m.Model, verdicts: Sequence[Verdict], options: Options
) -> str | None:
    """A claim about what players know that gets another verdict: what is shown carries no other proof."""
    knowing = {v.name: v.outcome for v in verdicts if speaks_of_knowing(v.claim)}
    if not knowing:
        return None
    for verdict in prove(changed, family.name, replace(options, only=tuple(knowing))):
        if not verdict.undecided and verdict.outcome != knowing[verdict.name]:
            return verdict.name
    return None
