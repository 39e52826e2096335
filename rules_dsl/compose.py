"""Composition: a game, the games it extends and the modules put in become one list of declarations.

The base never mentions a module. A module adds declarations, extends phases and enums, puts phases before or
after others, and overrides definitions, tables, parameters, rulings and phases. Where two modules touch the
same thing in a way that depends on their order and neither says `after` the other, that is an error that
names both places.

A module can be put in *open*: then everything it does hangs on a parameter `with_NAME`, so that one model
speaks of the game with and without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from rules_dsl import syntax as s
from rules_dsl.diagnostics import Note, fail
from rules_dsl.rewrite import next_statements, redirected, with_base
from rules_dsl.selection import (
    Library,
    UnknownName,
    choose_modules,
    family_of,
    included_modules,
    layers_of,
    library,
    modules_before,
    order_modules,
)
from rules_dsl.source import Span

__all__ = ["ComposedPhase", "Composition", "Library", "Part", "UnknownName", "compose", "library"]


@dataclass(frozen=True)
class Part:
    """A declaration and the game or module it comes from."""

    item: s.Item
    module: str


@dataclass(frozen=True)
class ComposedPhase:
    declared: s.PhaseDecl
    module: str
    choices: tuple[tuple[s.Choice, str], ...]
    body: tuple[tuple[s.Statement, str], ...]
    goes_on: str | None  # where `continue` and a false `when` lead


@dataclass(frozen=True)
class Composition:
    """One game, put together, still untyped."""

    name: str
    text: str
    family: tuple[str, ...]
    modules: tuple[str, ...]
    open_modules: tuple[str, ...]
    span: Span
    parts: tuple[Part, ...]  # everything but enums, definitions and phases, overrides applied
    enums: Mapping[str, tuple[Part, ...]]  # the declaration and its extensions
    definitions: Mapping[str, Part]
    phases: Mapping[str, ComposedPhase]


def compose(
    lib: Library, game: str, modules: Sequence[str] = (), open_modules: Sequence[str] = ()
) -> Composition:
    """Puts a game together with modules; those in `open_modules` may be in or out."""
    family = family_of(lib, game)
    last = family[-1]
    if last.abstract:
        raise UnknownName(f"'{game}' is only the common part of other games and cannot be played by itself")
    names = tuple(g.name for g in family)
    chosen = choose_modules(lib, names, last, (*included_modules(lib, game), *modules, *open_modules))
    ordered = order_modules(chosen, lib)
    open_names = tuple(m.name for m in ordered if m.name in open_modules and m.name not in modules)
    layers = layers_of(family, ordered)
    ahead = {m.name: modules_before(m, lib, chosen) for m in ordered}
    merged = _Merge(lib, open_names, ahead, {*names, *included_modules(lib, game)})
    for layer in layers:
        for item in layer.items:
            merged.add(layer.name, item)
    merged.finish()
    return Composition(
        game,
        last.text,
        names,
        tuple(m.name for m in ordered),
        open_names,
        last.span,
        tuple(merged.parts.values()),
        {name: tuple(parts) for name, parts in merged.enums.items()},
        merged.definitions,
        merged.phases,
    )


_KINDS: Mapping[type, str] = {
    s.TypeDecl: "type",
    s.TableDecl: "table",
    s.ParamDecl: "param",
    s.RulingDecl: "ruling",
    s.StateDecl: "state variable",
    s.SpeechDecl: "speech",
    s.AssumeDecl: "assumption",
    s.PropertyDecl: "property",
}


_Named = (
    s.TypeDecl
    | s.TableDecl
    | s.ParamDecl
    | s.RulingDecl
    | s.StateDecl
    | s.SpeechDecl
    | s.AssumeDecl
    | s.PropertyDecl
)


class _Merge:
    def __init__(
        self, lib: Library, open_names: tuple[str, ...], before: Mapping[str, set[str]], games: set[str]
    ) -> None:
        self.lib = lib
        self.open = open_names
        self.before = before
        self.games = games
        self.parts: dict[str, Part] = {}
        self.enums: dict[str, list[Part]] = {}
        self.definitions: dict[str, Part] = {}
        self.phases: dict[str, ComposedPhase] = {}
        self.overridden: dict[str, tuple[str, Span]] = {}
        self.inserted: list[tuple[str, s.PhaseDecl]] = []

    # guards for open modules

    def _guarded(self, module: str, condition: s.Expr | None, span: Span) -> s.Expr | None:
        if module not in self.open:
            return condition
        name = s.Name(f"with_{module}", span)
        return name if condition is None else s.Binary("and", name, condition, condition.span)

    def _implied(self, module: str, condition: s.Expr) -> s.Expr:
        if module not in self.open:
            return condition
        return s.Binary("implies", s.Name(f"with_{module}", condition.span), condition, condition.span)

    def _cannot_be_open(self, module: str, what: str, span: Span) -> None:
        if module in self.open:
            raise fail(
                "E107", f"module '{module}' overrides a {what}, so it must be in or out, not left open", span
            )

    def _override(self, what: str, name: str, module: str, span: Span, there: Part | None) -> None:
        if there is None:
            raise fail(
                "E110", f"there is no {what} '{name}' to override", span, "drop 'override' to declare it"
            )
        key = f"{what} {name}"
        earlier = self.overridden.get(key)
        if earlier is not None and not self._ordered(earlier[0], module):
            raise fail(
                "E111",
                f"modules '{earlier[0]}' and '{module}' both override {what} '{name}'",
                span,
                f"say which wins: 'module {module} ... after {earlier[0]}'",
                [Note("the other override:", earlier[1])],
            )
        self.overridden[key] = (module, span)

    def _ordered(self, first: str, second: str) -> bool:
        return first == second or first in self.games or first in self.before.get(second, set())

    def _new(self, what: str, name: str, span: Span, known: Span | None) -> None:
        if known is not None:
            raise fail(
                "E112",
                f"{what} '{name}' is declared twice",
                span,
                f"write 'override {what} {name}' to replace it" if what in ("def", "table", "phase") else "",
                [Note("the first declaration:", known)],
            )

    # one declaration at a time

    def add(self, module: str, item: s.Item) -> None:
        match item:
            case s.EnumDecl():
                self._enum(module, item)
            case s.DefDecl():
                self._definition(module, item)
            case s.PhaseDecl():
                self._phase(module, item)
            case s.ExtendDecl():
                self._extend(module, item)
            case s.SetupCheck():
                guarded = replace(item, condition=self._implied(module, item.condition))
                self.parts[f"setup {len(self.parts)}"] = Part(guarded, module)
            case s.Players() | s.ResultDecl():
                key = type(item).__name__
                there = self.parts.get(key)
                self._new(
                    "this", key.lower().removesuffix("decl"), item.span, there.item.span if there else None
                )
                self.parts[key] = Part(item, module)
            case s.StartDecl():
                there = self.parts.get("start")
                if item.overrides:
                    self._override("start", item.phase, module, item.span, there)
                else:
                    self._new("start", item.phase, item.span, there.item.span if there else None)
                self.parts["start"] = Part(item, module)
            case _:
                self._named(module, item)

    def _named(self, module: str, item: _Named) -> None:
        what = _KINDS[type(item)]
        name = item.name
        key = f"{what} {name}"
        there = self.parts.get(key)
        if getattr(item, "overrides", False):
            self._cannot_be_open(module, what, item.span)
            self._override(what, name, module, item.span, there)
            assert there is not None
            if isinstance(item, s.RulingDecl) and isinstance(there.item, s.RulingDecl):
                # only the default changes: the alternatives are the ruling's own
                item = replace(there.item, default=item.default, cites=item.cites, span=item.span)
            if isinstance(item, s.ParamDecl) and isinstance(there.item, s.ParamDecl) and item.type is None:
                item = replace(item, type=there.item.type)
        else:
            self._new(what, name, item.span, there.item.span if there else None)
        self.parts[key] = Part(item, module)

    def _enum(self, module: str, item: s.EnumDecl) -> None:
        there = self.enums.get(item.name)
        if item.extends:
            if there is None:
                raise fail("E113", f"there is no enum '{item.name}' to extend", item.span)
            there.append(Part(item, module))
        else:
            self._new("enum", item.name, item.span, there[0].item.span if there else None)
            self.enums[item.name] = [Part(item, module)]

    def _definition(self, module: str, item: s.DefDecl) -> None:
        there = self.definitions.get(item.name)
        if not item.overrides:
            self._new("def", item.name, item.span, there.item.span if there else None)
            self.definitions[item.name] = Part(item, module)
            return
        self._override("def", item.name, module, item.span, there)
        assert there is not None
        assert isinstance(there.item, s.DefDecl)
        if item.parameters and tuple(p.type for p in item.parameters) != tuple(
            p.type for p in there.item.parameters
        ):
            raise fail(
                "E114",
                f"def '{item.name}' is overridden with other parameters",
                item.span,
                notes=[Note("the definition:", there.item.span)],
            )
        parameters = item.parameters or there.item.parameters
        kept = f"{item.name}@{sum(1 for n in self.definitions if n.split('@')[0] == item.name)}"
        self.definitions[kept] = Part(replace(there.item, name=kept), there.module)
        base = s.Call(kept, tuple(s.Name(p.name, p.span) for p in parameters), item.span)
        value = with_base(item.value, kept)
        if module in self.open:
            value = s.Conditional(s.Name(f"with_{module}", item.span), value, base, item.span)
        made = replace(item, parameters=parameters, type=item.type or there.item.type, value=value)
        self.definitions[item.name] = Part(made, module)

    def _phase(self, module: str, item: s.PhaseDecl) -> None:
        there = self.phases.get(item.name)
        made = ComposedPhase(
            replace(item, when=self._guarded(module, item.when, item.span) if item.placement else item.when),
            module,
            tuple((c, module) for c in item.choices),
            tuple((b, module) for b in item.body),
            None,
        )
        if item.overrides:
            self._cannot_be_open(module, "phase", item.span)
            self._override(
                "phase", item.name, module, item.span, Part(there.declared, there.module) if there else None
            )
            assert there is not None
            old = there.declared
            kept = replace(
                made.declared, placement=old.placement, anchor=old.anchor, when=item.when or old.when
            )
            self.phases[item.name] = replace(made, declared=kept)
            return
        self._new("phase", item.name, item.span, there.declared.span if there else None)
        self.phases[item.name] = made
        if item.placement is not None:
            self.inserted.append((module, item))
        elif item.when is not None:
            raise fail(
                "E115",
                "only a phase put before or after another can have 'when'",
                item.span,
                "use 'if' in its body",
            )

    def _extend(self, module: str, item: s.ExtendDecl) -> None:
        there = self.phases.get(item.phase)
        if there is None:
            raise fail(
                "E116",
                f"there is no phase '{item.phase}' to extend",
                item.span,
                f"known phases: {', '.join(sorted(self.phases)) or 'none'}",
            )
        added = tuple((replace(c, when=self._guarded(module, c.when, c.span)), module) for c in item.choices)
        body: tuple[tuple[s.Statement, str], ...] = tuple((b, module) for b in item.body)
        if module in self.open and item.body:
            guard = s.Name(f"with_{module}", item.span)
            body = ((s.If(guard, item.body, (), item.cites, item.span), module),)
        choices = (*added, *there.choices) if item.first else (*there.choices, *added)
        for name, requires in item.requires:
            choices = self._require(module, item, choices, name, requires)
        # the last statement of a phase is the one that leads on: what is added stands before it
        place = 0 if item.first else max(0, len(there.body) - 1)
        body = (*there.body[:place], *body, *there.body[place:])
        self.phases[item.phase] = replace(there, choices=choices, body=body)

    def _require(
        self,
        module: str,
        item: s.ExtendDecl,
        choices: tuple[tuple[s.Choice, str], ...],
        name: str,
        requires: tuple[s.Require, ...],
    ) -> tuple[tuple[s.Choice, str], ...]:
        if not any(c.name == name for c, _ in choices):
            raise fail("E117", f"phase '{item.phase}' has no choice '{name}'", item.span)
        guarded = tuple(replace(r, condition=self._implied(module, r.condition)) for r in requires)
        return tuple(
            (replace(c, requires=(*c.requires, *guarded)) if c.name == name else c, owner)
            for c, owner in choices
        )

    # phases that stand before or after others

    def finish(self) -> None:
        """Routes the phases that were put before or after others."""
        groups: dict[tuple[str, str], list[tuple[str, s.PhaseDecl]]] = {}
        for module, item in self.inserted:
            assert item.placement is not None
            assert item.anchor is not None
            if item.anchor not in self.phases:
                raise fail("E118", f"there is no phase '{item.anchor}' to stand {item.placement}", item.span)
            group = groups.setdefault((item.placement, item.anchor), [])
            if group and not self._ordered(group[-1][0], module):
                raise fail(
                    "E119",
                    f"'{group[-1][0]}' and '{module}' both put a phase {item.placement} '{item.anchor}'",
                    item.span,
                    f"say which comes first: 'module {module} ... after {group[-1][0]}'",
                    [Note("the other phase:", group[-1][1].span)],
                )
            group.append((module, item))
        for (placement, anchor), group in groups.items():
            chain = [item.name for _, item in group]
            if placement == "before":
                self._reroute(anchor, chain[0], except_in=set(chain))
                target = anchor
            else:
                target = self._only_target(anchor, group[0][1])
                self._reroute(target, chain[0], only_in={anchor})
            for name, following in zip(chain, [*chain[1:], target], strict=True):
                self.phases[name] = replace(self.phases[name], goes_on=following)

    def _only_target(self, anchor: str, item: s.PhaseDecl) -> str:
        targets = {
            n.phase for b, _ in self.phases[anchor].body for n in next_statements(b) if n.phase is not None
        }
        if len(targets) != 1:
            raise fail(
                "E120",
                f"phase '{anchor}' leads to {len(targets)} phases, so nothing can simply stand after it",
                item.span,
                "put the phase before one of those it leads to",
                [Note("the phase:", self.phases[anchor].declared.span)],
            )
        return targets.pop()

    def _reroute(
        self,
        target: str,
        to: str,
        except_in: Set[str] = frozenset(),
        only_in: Set[str] | None = None,
    ) -> None:
        for name, phase in self.phases.items():
            if name in except_in or (only_in is not None and name not in only_in):
                continue
            body = tuple((redirected(b, target, to), owner) for b, owner in phase.body)
            goes_on = to if phase.goes_on == target else phase.goes_on
            self.phases[name] = replace(phase, body=body, goes_on=goes_on)
        start = self.parts.get("start")
        if (
            only_in is None
            and start is not None
            and isinstance(start.item, s.StartDecl)
            and start.item.phase == target
        ):
            self.parts["start"] = Part(replace(start.item, phase=to), start.module)
