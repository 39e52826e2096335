"""What is fixed before a game starts: enums and their attributes, types, tables, rulings and parameters.

Each function reads declarations of the composition and enters what they mean into the `Names`.
"""

from __future__ import annotations

from rules_dsl import model as m
from rules_dsl import syntax as s
from rules_dsl.compose import Part
from rules_dsl.diagnostics import Note, fail
from rules_dsl.elaborate import check, infer
from rules_dsl.names import Names, origin_of
from rules_dsl.scope import MOST_MEMBERS
from rules_dsl.source import Span
from rules_dsl.types import BOOL, EnumType, Type, cardinality, join
from rules_dsl.values import all_values


def enter_types(names: Names) -> None:
    for name, parts in names.composition.enums.items():
        names.attempt(_enum, names, name, parts)
    for item, _ in names.parts(s.TypeDecl):
        names.attempt(_alias, names, item)
    for ruling, _ in names.parts(s.RulingDecl):
        names.attempt(_ruling_type, names, ruling)
    for item_, _ in names.parts(s.ResultDecl):
        names.result = names.attempt(names.type_of, item_.type)
    for enum in names.enums.values():
        for member in enum.members:
            names.members[member] = (*names.members.get(member, ()), enum)
    for choice, _ in names.choices():
        names.places.setdefault(choice.name, choice.span)


def _enum(names: Names, name: str, parts: tuple[Part, ...]) -> None:
    members: list[str] = []
    for part in parts:
        assert isinstance(part.item, s.EnumDecl)
        for member in part.item.members:
            if member.name in members:
                raise fail("E304", f"enum '{name}' has two members '{member.name}'", member.span)
            members.append(member.name)
    if name in names.types:
        raise fail("E301", f"'{name}' is already a type", parts[0].item.span)
    if len(members) > MOST_MEMBERS:
        raise fail(
            "E305",
            f"enum '{name}' has {len(members)} members; {MOST_MEMBERS} is the most",
            parts[0].item.span,
        )
    names.enums[name] = EnumType(name, tuple(members))
    names.types[name] = names.enums[name]


def _alias(names: Names, item: s.TypeDecl) -> None:
    if item.name in names.types:
        raise fail("E301", f"'{item.name}' is already a type", item.span)
    names.types[item.name] = names.type_of(item.type)


def _ruling_type(names: Names, item: s.RulingDecl) -> None:
    if (item.type is None) == (not item.alternatives):
        raise fail("E306", "a ruling lists its alternatives in braces, or names a type after ':'", item.span)
    if item.type is not None:
        return
    alternatives = tuple(a.name for a in item.alternatives)
    if len(set(alternatives)) != len(alternatives):
        raise fail("E304", f"ruling '{item.name}' has an alternative twice", item.span)
    names.enums[item.name] = EnumType(item.name, alternatives)


def enter_constants(names: Names) -> None:
    for name in names.composition.open_modules:
        key = m.module_parameter(name)
        names.params[key] = m.Param(key, "module", BOOL, m.Literal(False, BOOL), origin=m.Origin(name))
    for ruling, origin in names.parts(s.RulingDecl):
        names.attempt(_ruling, names, ruling, origin)
    for table, origin in names.parts(s.TableDecl):
        names.attempt(_table, names, table, origin)
    for name, parts in names.composition.enums.items():
        names.attempt(_attributes, names, name, parts)
    for param, origin in names.parts(s.ParamDecl):
        names.attempt(_param, names, param, origin)


def _ruling(names: Names, item: s.RulingDecl, origin: m.Origin) -> None:
    names.claim(item.name, item.span)
    type_ = names.enums[item.name] if item.type is None else names.type_of(item.type)
    if not isinstance(type_, EnumType):
        raise fail("E314", f"a ruling chooses among the members of an enum, not {type_}", item.span)
    if item.default not in type_.members:
        raise fail(
            "E315",
            f"'{item.default}' is not an alternative of '{item.name}'",
            item.span,
            f"one of: {', '.join(type_.members)}",
        )
    texts = {a.name: a.text for a in item.alternatives}
    alternatives = tuple((name, texts.get(name, "")) for name in type_.members)
    default = m.Literal(item.default, type_)
    names.params[item.name] = m.Param(item.name, "ruling", type_, default, item.text, alternatives, origin)


def _param(names: Names, item: s.ParamDecl, origin: m.Origin) -> None:
    names.claim(item.name, item.span)
    if item.type is None:
        raise fail("E316", f"param '{item.name}' needs a type", item.span)
    type_ = names.type_of(item.type)
    default = check(item.default, names.scope(state=False), type_)
    names.only_params(default, item.span)
    names.params[item.name] = m.Param(item.name, "param", type_, default, origin=origin)


def _table(names: Names, item: s.TableDecl, origin: m.Origin) -> None:
    names.claim(item.name, item.span)
    keys = tuple(names.index_type(k, "a table") for k in item.keys)
    if not 1 <= len(keys) <= 2:
        raise fail("E318", "a table has one or two keys", item.span)
    scope = names.scope(state=False)
    rows: dict[m.Value, tuple[m.Expr, ...]] = {}
    places: dict[m.Value, Span] = {}
    width = cardinality(keys[1]) if len(keys) == 2 else 1
    for row in item.rows:
        key = check(row.key, scope, keys[0])
        if not isinstance(key, m.Literal):
            raise fail("E319", "a row begins with a value of the first key", row.span)
        if key.value in rows:
            raise fail(
                "E320",
                f"table '{item.name}' has two rows for {key.value}",
                row.span,
                notes=[Note("the other:", places[key.value])],
            )
        if len(row.values) != width:
            raise fail(
                "E321",
                f"this row has {len(row.values)} value(s), the table has {width} column(s)",
                row.span,
            )
        rows[key.value] = tuple(infer(v, scope) for v in row.values)
        places[key.value] = row.span
    missing = [v for v in all_values(keys[0], names.player.count) if v not in rows]
    if missing:
        shown = ", ".join(str(v) for v in missing[:6])
        raise fail(
            "E322",
            f"table '{item.name}' has a gap: no row for {shown}",
            item.span,
            f"every value of {keys[0]} needs a row",
        )
    cells = [c for v in all_values(keys[0], names.player.count) for c in rows[v]]
    names.tables[item.name] = m.Table(item.name, keys, tuple(cells), _joined(cells, item.span), origin)


def _attributes(names: Names, enum_name: str, parts: tuple[Part, ...]) -> None:
    enum = names.enums[enum_name]
    scope = names.scope(state=False)
    declared: list[tuple[s.AttributeDecl, Type, m.Origin]] = []
    for part in parts:
        assert isinstance(part.item, s.EnumDecl)
        for attribute in part.item.attributes:
            if any(d.name == attribute.name for d, _, _ in declared):
                raise fail("E323", f"attribute '{attribute.name}' is declared twice", attribute.span)
            declared.append((attribute, names.type_of(attribute.type), origin_of(part)))
    given: dict[str, dict[str, m.Expr]] = {d.name: {} for d, _, _ in declared}
    spans: dict[str, Span] = {}
    for part in parts:
        assert isinstance(part.item, s.EnumDecl)
        for member in part.item.members:
            spans[member.name] = member.span
            if len(member.positional) > len(declared):
                raise fail("E324", f"{enum_name} has {len(declared)} attribute(s)", member.span)
            pairs = [(d.name, e) for (d, _, _), e in zip(declared, member.positional, strict=False)]
            for name, expr in (*pairs, *member.named):
                if name not in given:
                    raise fail("E214", f"{enum_name} has no attribute '{name}'", member.span)
                type_ = next(t for d, t, _ in declared if d.name == name)
                given[name][member.name] = check(expr, scope, type_)
                names.only_params(given[name][member.name], expr.span)
    for attribute, type_, origin in declared:
        cells: list[m.Expr] = []
        for name in enum.members:
            cell = given[attribute.name].get(name)
            if cell is None:
                if attribute.default is None:
                    raise fail(
                        "E325",
                        f"'{name}' needs a value for '{attribute.name}'",
                        spans[name],
                        notes=[Note("the attribute:", attribute.span)],
                    )
                cell = check(attribute.default, scope, type_)
            cells.append(cell)
        key = f"{enum_name}.{attribute.name}"
        names.tables[key] = m.Table(key, (enum,), tuple(cells), type_, origin)


def _joined(cells: list[m.Expr], span: Span) -> Type:
    found: Type | None = cells[0].type
    for cell in cells[1:]:
        found = join(found, cell.type) if found is not None else None
    if found is None:
        raise fail("E346", "the values of a table are of one type", span)
    return found
