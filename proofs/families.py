"""What is proved together: a game with the modules that state claims about it, every module of rules that may be in or
out left open, and everything not fixed symbolic.

Takes a library of rulebooks and the names of what to put in; gives `Family` values, each with one open model. Claims
about what players know go into families of their own, because they are decided over pairs of games.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rules_dsl import Library, Model, Value, build_model, compose
from rules_dsl import model as m
from rules_dsl import syntax as s
from rules_dsl.rewrite import assignments
from rules_dsl.selection import family_of, included_modules
from rules_dsl.settle import BadParameter, fix
from rules_dsl.values import is_value
from rules_dsl.walk import every


@dataclass(frozen=True)
class Family:
    """A game and the claims to be decided about it. `fixed` are parameters that are not left open."""

    name: str
    game: str
    claims: tuple[str, ...]
    modules: tuple[str, ...]
    open_modules: tuple[str, ...]
    model: Model = field(repr=False, compare=False)
    fixed: Mapping[str, Value] = field(default_factory=dict)
    paths: tuple[Path, ...] = ()  # rulebook files besides the shipped ones
    narrow: bool = False  # something is fixed that the claims leave open
    left_out: tuple[str, ...] = ()  # modules that could be in but were asked to be out

    @property
    def watchers(self) -> tuple[str, ...]:
        """The modules that state claims and no rules: what they keep count of is no part of the game."""
        return tuple(name for name in self.claims if name not in self.modules)

    @property
    def knowing(self) -> bool:
        """Does it speak of what players know?"""
        return any(speaks_of_knowing(p) for p in self.model.properties.values())

    @property
    def properties(self) -> tuple[str, ...]:
        return tuple(self.model.properties)


def fits(lib: Library, module: s.Module, game: str) -> bool:
    """Is the module for this game or one it extends?"""
    names = {g.name for g in family_of(lib, game)}
    return any(base.name in names for base in module.bases)


def states_claims(module: s.Module | s.Game) -> bool:
    return any(isinstance(item, s.PropertyDecl) for item in module.items)


def only_watches(module: s.Module) -> bool:
    """Does the module leave the game as it is? It may state claims, define words, and keep count in hidden variables."""
    own = {item.name for item in module.items if isinstance(item, s.StateDecl)}
    return all(_watches(item, own) for item in module.items)


def _watches(item: s.Item, own: set[str]) -> bool:
    match item:
        case s.PropertyDecl():
            return True
        case s.StateDecl():
            return item.audience.kind == "hidden"
        case s.DefDecl() | s.TableDecl():
            return not item.overrides
        case s.ExtendDecl():
            counts = all(isinstance(x, s.Assign | s.If) for x in _inside(item.body))
            written = {a.name for statement in item.body for a in assignments(statement)}
            return not item.choices and not item.requires and counts and written <= own
        case _:
            return False


def _inside(body: Sequence[s.Statement]) -> Iterator[s.Statement]:
    for statement in body:
        yield statement
        if isinstance(statement, s.If):
            yield from _inside((*statement.then, *statement.otherwise))


def playable_games(lib: Library) -> list[str]:
    return sorted(name for name, game in lib.games.items() if not game.abstract)


def families(
    lib: Library,
    games: Sequence[str],
    claims: Sequence[str],
    *,
    modules: Sequence[str] = (),
    open_modules: Sequence[str] = (),
    without: Sequence[str] = (),
    fixed: Mapping[str, Value] | None = None,
) -> list[Family]:
    """For each game the claims that fit it, with `modules` in and those of `open_modules` that fit in or out, but none
    of those of `without`.

    A game that states claims of its own is a family even where no module of claims fits it.
    """
    made: list[Family] = []
    fixed = fixed or {}
    for game in games:
        fitting = [c for c in claims if fits(lib, lib.modules[c], game)]
        own = any(states_claims(g) for g in family_of(lib, game))
        whole = _family(lib, game, "", fitting, modules, open_modules, without, fixed)
        knowing = _modules_that_speak_of_knowing(whole.model) & set(fitting)
        if not knowing:
            made += [whole] if fitting or own else []
            continue
        plain = [c for c in fitting if c not in knowing]
        for suffix, group in (("", plain), (": who knows what", sorted(knowing))):
            if group or (own and not suffix):
                made.append(_family(lib, game, suffix, group, modules, open_modules, without, fixed))
    return made


def speaks_of_knowing(claim: m.Property) -> bool:
    """Does the claim say what a player knows, considers possible or is told?"""
    if claim.kind == "silent":
        return True
    return claim.value is not None and any(isinstance(e, m.Knows) for e in every(claim.value))


def _modules_that_speak_of_knowing(model: Model) -> set[str]:
    return {p.origin.module for p in model.properties.values() if speaks_of_knowing(p)}


def _check_value(model: Model, game: str, name: str, value: Value) -> None:
    param = model.params[name]
    if is_value(param.type, value, model.players.count):
        return
    if param.kind == "players":
        raise BadParameter(f"{game} is for {model.fewest} to {model.most} players, not {value}")
    shown = ", ".join(word for word, _ in param.alternatives) or str(param.type)
    raise BadParameter(f"{param.kind} '{name}' cannot be '{value}'; it is one of: {shown}")


def _family(
    lib: Library,
    game: str,
    suffix: str,
    claims: Sequence[str],
    modules: Sequence[str],
    open_modules: Sequence[str],
    without: Sequence[str],
    fixed: Mapping[str, Value],
) -> Family:
    built_in = included_modules(lib, game)
    left_open = tuple(
        name
        for name in open_modules
        if name not in (*modules, *without, *built_in) and fits(lib, lib.modules[name], game)
    )
    put_in = tuple(sorted({*modules, *claims}))
    model = build_model(compose(lib, game, put_in, left_open))
    for name in without:
        if name in model.modules:
            raise BadParameter(
                f"module '{name}' cannot be left out of {game}: it is built in or another needs it"
            )
    known = {name: value for name, value in fixed.items() if name in model.params}
    for name, value in known.items():
        _check_value(model, game, name, value)
    return Family(
        game + suffix,
        game,
        tuple(claims),
        tuple(modules),
        left_open,
        fix(model, known) if known else model,
        known,
        left_out=tuple(name for name in without if fits(lib, lib.modules[name], game)),
    )
