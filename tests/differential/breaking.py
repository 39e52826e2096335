"""One rule of a model broken, for one back end to be made from while the others keep the true one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rules_dsl import Model
from rules_dsl import model as m
from rules_dsl.walk import rebuild

Break = Callable[[Model], Model]


def without_requirement(phase: str, text: str) -> Break:
    def change(model: Model) -> Model:
        if phase not in model.phases:
            return model
        old = model.phases[phase]
        choices = tuple(
            replace(c, requires=tuple(r for r in c.requires if r.text != text)) for c in old.choices
        )
        return replace(model, phases={**model.phases, phase: replace(old, choices=choices)})

    return change


def with_operation(phase: str, old: str, new: str) -> Break:
    """Every comparison of one kind in a phase's effects replaced by another."""

    def change_expr(expr: m.Expr) -> m.Expr:
        made = rebuild(expr, change_expr)
        return replace(made, operation=new) if isinstance(made, m.Apply) and made.operation == old else made

    def change_body(body: tuple[m.Statement, ...]) -> tuple[m.Statement, ...]:
        return tuple(
            replace(
                s,
                condition=change_expr(s.condition),
                then=change_body(s.then),
                otherwise=change_body(s.otherwise),
            )
            if isinstance(s, m.If)
            else s
            for s in body
        )

    def change(model: Model) -> Model:
        made = replace(model.phases[phase], body=change_body(model.phases[phase].body))
        assert made != model.phases[phase]
        return replace(model, phases={**model.phases, phase: made})

    return change


def without_statement(phase: str, kind: type) -> Break:
    def change(model: Model) -> Model:
        body = model.phases[phase].body
        kept = tuple(s for s in body if not isinstance(s, kind))
        assert kept != body
        made = replace(model.phases[phase], body=kept)
        return replace(model, phases={**model.phases, phase: made})

    return change


def with_cell(table: str, place: int) -> Break:
    def change(model: Model) -> Model:
        old = model.tables[table]
        cell = old.cells[place]
        assert isinstance(cell, m.Literal)
        assert isinstance(cell.value, int)
        cells = (*old.cells[:place], replace(cell, value=cell.value - 1), *old.cells[place + 1 :])
        return replace(model, tables={**model.tables, table: replace(old, cells=cells)})

    return change


EFFECTS: dict[str, Break] = {
    "a tie approves": with_operation("vote", "gt", "ge"),
    "one fail too many needed": with_operation("tally", "ge", "gt"),
    "the first rejection ends it": with_operation("rejected", "eq", "lt"),
    "nobody sees anything at the reveal": without_statement("reveal", m.Show),
    "the leader stays": without_statement("aftermath", m.Assign),
    "the first team of seven has one member": with_cell("team_size", 10),
}
