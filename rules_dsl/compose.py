"""Composition: a game, the games it extends and the modules put in become one list of declarations.

The base never mentions a module. A module adds declarations, extends phases and enums, puts phases before or
after others, and overrides definitions, tables, parameters, rulings and phases. Where two modules touch the
same thing in a way that depends on their order and neither says `after` the other, that is an error that
names both places.

A module can be put in *open*: then everything it does hangs on a parameter `with_NAME`, so that one model
speaks of the game with and without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rules_dsl import syntax as s
from rules_dsl.diagnostics import Note, RulebookError, fail
from rules_dsl.interference import Change, check_order
from rules_dsl.placement import ComposedPhase, Part, place_phases
from rules_dsl.rewrite import with_base
from rules_dsl.selection import (
    Library,
    UnknownName,
    check_exclusions,
    check_references,
    choose_modules,
    family_of,
    included_modules,
    layers_of,
    library,
    modules_before,
    only_watches,
    order_modules,
)
from rules_dsl.source import Span

__all__ = ["ComposedPhase", "Composition", "Library", "Part", "UnknownName", "compose", "library"]


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
    check_references(lib)
    family = family_of(lib, game)
    last = family[-1]
    if last.abstract:
        raise UnknownName(f"'{game}' is only the common part of other games and cannot be played by itself")
    names = tuple(g.name for g in family)
    always = choose_modules(lib, names, last, (*included_modules(lib, game), *modules))
    chosen = choose_modules(lib, names, last, (*always, *open_modules))
    check_exclusions(chosen, set(always))
    ordered = order_modules(chosen, lib)
    # what only an open module requires is open as well
    open_names = tuple(m.name for m in ordered if m.name not in always)
    layers = layers_of(family, ordered)
    merged = _Merge(lib, open_names, chosen, {*names, *included_modules(lib, game)})
    for layer in layers:
        for item in layer.items:
            merged.add(layer.name, item)
    merged.relate_open()
    check_order(merged.changes, merged.definitions, merged.ordered)
    place_phases(merged.inserted, merged.phases, merged.parts, merged.ordered)
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
        self, lib: Library, open_names: tuple[str, ...], chosen: Mapping[str, s.Module], games: set[str]
    ) -> None:
        self.open = open_names
        self.chosen = chosen
        self.before = {name: modules_before(module, lib) for name, module in chosen.items()}
        self.games = games  # the games and the modules they have built in
        self.parts: dict[str, Part] = {}
        self.enums: dict[str, list[Part]] = {}
        self.definitions: dict[str, Part] = {}
        self.phases: dict[str, ComposedPhase] = {}
        self.overridden: dict[str, tuple[str, Span]] = {}
        self.inserted: list[tuple[str, s.PhaseDecl]] = []
        self.changes: list[Change] = []
        self.fronts: dict[str, tuple[int, int]] = {}  # choices and statements that modules put to the front

    # guards for open modules

    def _guarded(self, module: str, condition: s.Expr | None, span: Span) -> s.Expr | None:
        if module not in self.open:
            return condition
        there = s.ModuleIn(module, span)
        return there if condition is None else s.Binary("and", there, condition, condition.span)

    def _implied(self, module: str, condition: s.Expr) -> s.Expr:
        if module not in self.open:
            return condition
        return s.Binary("implies", s.ModuleIn(module, condition.span), condition, condition.span)

    def _cannot_be_open(self, module: str, what: str, span: Span) -> None:
        if module in self.open:
            raise fail(
                "E107", f"module '{module}' overrides a {what}, so it must be in or out, not left open", span
            )

    def relate_open(self) -> None:
        """What open modules require and exclude becomes a matter of the set-up."""
        for module in self.chosen.values():
            for ref in module.requires:
                if ref.name in self.open:
                    both = s.ModuleIn(ref.name, ref.span)
                    text = f"module '{module.name}' requires '{ref.name}'"
                    self._relate(module, self._implied(module.name, both), text, ref.span)
            for ref in module.excludes:
                if ref.name in self.chosen and (ref.name in self.open or module.name in self.open):
                    other = self._guarded(ref.name, None, ref.span) or s.Name("true", ref.span)
                    without = s.Unary("not", other, ref.span)
                    text = f"modules '{module.name}' and '{ref.name}' exclude each other"
                    self._relate(module, self._implied(module.name, without), text, ref.span)

    def _relate(self, module: s.Module, condition: s.Expr, text: str, span: Span) -> None:
        made = s.SetupCheck("error", condition, text, (), span)
        self.parts[f"setup {len(self.parts)}"] = Part(made, module.name)

    def _override(
        self, what: str, name: str, module: str, span: Span, there: Part | None, key: str = ""
    ) -> None:
        if there is None:
            raise fail(
                "E110", f"there is no {what} '{name}' to override", span, "drop 'override' to declare it"
            )
        key = key or f"{what} '{name}'"
        earlier = self.overridden.get(key)
        if earlier is not None and not self.ordered(earlier[0], module):
            raise fail(
                "E111",
                f"modules '{earlier[0]}' and '{module}' both override {key}",
                span,
                f"say which wins: 'module {module} ... after {earlier[0]}'",
                [Note("the other override:", earlier[1])],
            )
        self.overridden[key] = (module, span)

    def ordered(self, first: str, second: str) -> bool:
        """Does the one come before the other for a reason that an author can see, or are they never together?"""
        if first == second or first in self.games:
            return True
        one, two = self.chosen[first], self.chosen.get(second)
        if two is None:  # a game comes after the modules built into it
            return True
        return (
            first in self.before[second]
            or only_watches(two)
            or any(r.name == second for r in one.excludes)
            or any(r.name == first for r in two.excludes)
        )

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
                    self._override("start", item.phase, module, item.span, there, key="the start")
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
            value = s.Conditional(s.ModuleIn(module, item.span), value, base, item.span)
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
            self.phases[item.name] = replace(made, declared=self._in_its_place(item, there.declared))
            self.changes.append(Change(module, item))
            self.fronts.pop(item.name, None)
            return
        self._new("phase", item.name, item.span, there.declared.span if there else None)
        self.phases[item.name] = made
        if item.placement is not None:
            self.inserted.append((module, item))
        elif item.when is not None:
            raise _no_condition(item)

    def _in_its_place(self, item: s.PhaseDecl, old: s.PhaseDecl) -> s.PhaseDecl:
        """What overrides a phase stands where that one stood, and only while the module that put it there is in."""
        if item.placement is not None and (item.placement, item.anchor) != (old.placement, old.anchor):
            raise fail(
                "E126",
                f"phase '{item.name}' stays where it is: an override cannot put it {item.placement} '{item.anchor}'",
                item.span,
                f"leave out '{item.placement} {item.anchor}'",
                [Note("the phase:", old.span)],
            )
        if old.placement is None and item.when is not None:
            raise _no_condition(item)
        placed_by = next((owner for owner, placed in self.inserted if placed.name == item.name), "")
        when = old.when if item.when is None else self._guarded(placed_by, item.when, item.span)
        return replace(item, placement=old.placement, anchor=old.anchor, when=when)

    def _extend(self, module: str, item: s.ExtendDecl) -> None:
        there = self.phases.get(item.phase)
        if there is None:
            raise fail(
                "E116",
                f"there is no phase '{item.phase}' to extend",
                item.span,
                f"known phases: {', '.join(sorted(self.phases)) or 'none'}",
            )
        self.changes.append(Change(module, item))
        added = tuple((replace(c, when=self._guarded(module, c.when, c.span)), module) for c in item.choices)
        body: tuple[tuple[s.Statement, str], ...] = tuple((b, module) for b in item.body)
        if module in self.open and item.body:
            guard = s.ModuleIn(module, item.span)
            body = ((s.If(guard, item.body, (), item.cites, item.span), module),)
        # the last statement of a phase is the one that leads on: what is added stands before it
        ahead, place = len(there.choices), max(0, len(there.body) - 1)
        if item.first:
            ahead, place = self._front(module, item.phase, len(added), len(body))
        choices = (*there.choices[:ahead], *added, *there.choices[ahead:])
        for name, requires in item.requires:
            choices = self._require(module, item, choices, name, requires)
        body = (*there.body[:place], *body, *there.body[place:])
        self.phases[item.phase] = replace(there, choices=choices, body=body)

    def _front(self, module: str, phase: str, choices: int, statements: int) -> tuple[int, int]:
        """Where choices and statements put to the front go: before all of the game's own, after what modules that
        come earlier put there."""
        if module in self.games:
            self.fronts.pop(phase, None)
            return 0, 0
        ahead, place = self.fronts.get(phase, (0, 0))
        self.fronts[phase] = (ahead + choices, place + statements)
        return ahead, place

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
        guarded = tuple(
            replace(r, condition=self._implied(module, r.condition), module=module) for r in requires
        )
        return tuple(
            (replace(c, requires=(*c.requires, *guarded)) if c.name == name else c, owner)
            for c, owner in choices
        )


def _no_condition(item: s.PhaseDecl) -> RulebookError:
    return fail(
        "E115",
        "only a phase put before or after another can have 'when'",
        item.span,
        "use 'if' in its body",
    )
