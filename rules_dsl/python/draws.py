"""How random play draws one choice: source that leaves a value, uniform among the proper ones, in a name.

A value of an index type is drawn by the mask of its options; a two-valued choice of many seats at once as
one word of random bits; anything else from a table of its options, made once for each value of what its
rules depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from rules_dsl import model as m
from rules_dsl.play import IllegalMove
from rules_dsl.python.prepare import TRUE
from rules_dsl.python.program import ChoicePlan, Program, Writer
from rules_dsl.python.raw import Raw, encoder, entries, gathered, is_bit, lowest, raw_index, raw_values
from rules_dsl.python.runtime import (
    MOST_TRIES,
    SPARE,
    Allowed,
    Members,
    arrangement,
    slot_width,
    slots,
    uniform,
    weighted,
)
from rules_dsl.types import IntType, MapType, cardinality, is_index
from rules_dsl.values import arrangements, count_values, from_ordinal, least
from rules_dsl.walk import rebuild, statements

Space = dict[str, Any]

MOST_SLOTTED = 4096  # options that are drawn from a table of slots
MOST_LISTED = 1 << 17  # options that are listed at all; beyond, values are tried until one is allowed
LEGAL = ("require",)
PROPER = ("require", "ought")


class Drawing:
    """Writes the draws of one function."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.emitter = program.emitter
        self.facts = program.preparer.facts
        self.functions: list[str] = []
        self.links: list[Callable[[Space], None]] = []  # to be called with the names of the finished source
        # what is worked out together with the arrangement dealt, as (source, name); see `PlayFlow`
        self.derived: list[tuple[str, str]] = []
        self.dealt = self._dealt_once()

    def _dealt_once(self) -> str:
        """The variable that a deal of fixed cards at the very start gives its value and nothing else
        changes, if any.
        """
        model = self.program.model
        start = model.phases[model.start]
        bodies = (statements(phase.body) for phase in model.phases.values())
        assigned = {s.variable for body in bodies for s in body if isinstance(s, m.Assign)}
        chosen = [plan.choice.variable for plan in self.program.plans]
        for plan in self.program.by_phase[model.start] if start.when is None else ():
            name = plan.choice.variable
            certain = self._fixed_deal(plan) and plan.when in (None, TRUE)
            if certain and name not in assigned and chosen.count(name) == 1:
                return name
        return ""

    def _fixed_deal(self, plan: ChoicePlan) -> bool:
        return isinstance(plan.deal, m.Literal) and not plan.requires and plan.weight is None

    def draw(self, writer: Writer, plan: ChoicePlan) -> str:
        """Writes the draw; gives the name that holds the raw value afterwards."""
        value = self.emitter.bound(plan.value)
        if plan.kind == "each":
            return self._each(writer, plan)
        if plan.deal is not None:
            self._deal(writer, plan, value)
        elif plan.weight is not None:
            table = self._table(plan, weighing=True)
            writer.line(f"{value} = pick_weighted({table}, bits)")
        elif plan.kind == "one":
            self._one(writer, plan, value)
        else:
            self._single(writer, plan, value)
        self._verify(writer, plan)
        return value

    def _verify(self, writer: Writer, plan: ChoicePlan) -> None:
        """Holds the value against every requirement as it is written."""
        condition = plan.refusals(LEGAL)
        if condition == TRUE:
            return
        test = f"not {self.emitter.scalar(condition)}"
        if plan.choice.optional:
            test = f"{self.emitter.bound(plan.value)} is not None and {test}"
        with writer.block(f"if {test}:"):
            writer.line(f"raise {self._refusal(plan)}")

    def _refusal(self, plan: ChoicePlan) -> str:
        text = f"a random {plan.choice.variable} is not allowed"
        return self.emitter.keep(IllegalMove(text, choice=plan.choice))

    # --- one chooser ---

    def _single(self, writer: Writer, plan: ChoicePlan, value: str) -> None:
        if is_index(plan.choice.type) and not plan.choice.optional:
            self._from_mask(writer, plan, value, self._mask(plan))
        else:
            self._from_table(writer, plan, value, self._table(plan))

    def _mask(self, plan: ChoicePlan) -> str:
        proper, legal = self.program.option_mask(plan, PROPER), self.program.option_mask(plan, LEGAL)
        return proper if proper == legal else f"({proper} or {legal})"

    def _from_mask(self, writer: Writer, plan: ChoicePlan, value: str, mask: str) -> None:
        values = raw_index(plan.choice.type)  # type: ignore[arg-type]
        self._from_members(writer, value, mask, values)

    def _from_members(self, writer: Writer, value: str, mask: str, values: Sequence[int]) -> None:
        width = slot_width(len(values))
        members = Members(values, width)
        if mask.isdigit() and int(mask):
            table = self.emitter.constant(members[int(mask)])
        else:
            table = self.emitter.name("t")
            writer.line(f"{table} = {self.emitter.keep(members)}[{mask}]")
        self._slot(writer, value, table, width)

    def _slot(self, writer: Writer, value: str, table: str, width: int) -> None:
        writer.line(f"{value} = {table}[bits({width})]")
        with writer.block(f"while {value} is EMPTY:"):
            writer.line(f"{value} = {table}[bits({width})]")

    def _from_table(self, writer: Writer, plan: ChoicePlan, value: str, table: str) -> None:
        size = self._size(plan)
        if size > MOST_LISTED:
            writer.line(f"{value} = {table}(bits)")
        elif size > MOST_SLOTTED:
            writer.line(f"{value} = pick({table}, bits)")
        else:
            name = self.emitter.name("t")
            writer.line(f"{name} = {table}")
            self._slot(writer, value, name, slot_width(size))

    def _size(self, plan: ChoicePlan) -> int:
        return count_values(m.choice_type(plan.choice), self.program.model.players.count)

    def _one(self, writer: Writer, plan: ChoicePlan, value: str) -> None:
        """A seat that has something to choose, each alike, then one of its options."""
        seat, group = self.emitter.bound(plan.seat), self.emitter.name("t")
        writer.line(f"{group} = {self.program.choosers(plan)}")
        by_mask = is_index(plan.choice.type) and not plan.choice.optional
        found = self.emitter.name("t")
        with writer.block("while True:"):
            self._from_members(writer, seat, group, range(self.program.model.players.count))
            writer.line(f"{found} = {self._mask(plan) if by_mask else self._table(plan, may_be_empty=True)}")
            with writer.block(f"if {found}:"):
                writer.line("break")
            writer.line(f"{group} &= ~(1 << {seat})")
        if by_mask:
            self._from_mask(writer, plan, value, found)
        else:
            self._from_table(writer, plan, value, found)

    # --- tables ---

    def _table(self, plan: ChoicePlan, *, weighing: bool = False, may_be_empty: bool = False) -> str:
        """Source for the options of a choice, looked up by what its rules depend on."""
        proper, legal = plan.refusals(PROPER), plan.refusals(LEGAL)
        keys: dict[m.Expr, str] = {}
        rules = [self._opened(proper, keys), self._opened(legal, keys)]
        if weighing and plan.weight is not None:
            rules.append(self._opened(plan.weight, keys))
        seat_matters = any(plan.seat in self.facts.free(r) for r in rules)
        taken = [self.emitter.bound(name) for name in keys.values()]
        given = [self.emitter.scalar(e) for e in keys]
        if seat_matters:
            taken.append(self.emitter.bound(plan.seat))
            given.append(self.emitter.bound(plan.seat))
        names = [self._rule(plan, rule, taken) for rule in rules]
        find = _Finder(plan, self._size(plan), may_be_empty)
        self.links.append(lambda space: find.connect([space[name] for name in names]))
        key = given[0] if len(given) == 1 else f"({', '.join(given)})"
        return f"{self.emitter.keep(Allowed(find))}[{key}]"

    def _opened(self, expr: m.Expr, keys: dict[m.Expr, str]) -> m.Expr:
        """The expression with each part that depends on the state alone replaced by a name."""
        if isinstance(expr, m.Literal | m.Bound):
            return expr
        if not self.facts.free(expr):
            if expr not in keys:
                keys[expr] = self.program.preparer.fresh()
            return m.Bound(keys[expr], expr.type)
        return rebuild(expr, lambda part: self._opened(part, keys))

    def _rule(self, plan: ChoicePlan, rule: m.Expr, taken: list[str]) -> str:
        name = self.emitter.name("g")
        with self.emitter.plainly():
            source = self.emitter.scalar(rule)
        unpack = (
            f"    {taken[0]} = key\n"
            if len(taken) == 1
            else f"    {', '.join(taken)} = key\n"
            if taken
            else ""
        )
        head = f"def {name}({self.emitter.bound(plan.value)}, key):\n"
        self.emitter.functions.append(f"{head}{unpack}    return {source}\n")
        return name

    # --- deals ---

    def _deal(self, writer: Writer, plan: ChoicePlan, value: str) -> None:
        type_ = plan.choice.type
        assert isinstance(type_, MapType)
        places, first = cardinality(type_.key), lowest(type_.value)  # type: ignore[arg-type]
        if not self._fixed_deal(plan):
            self._shuffle(writer, plan, value, places, first)
            return
        assert isinstance(plan.deal, m.Literal)
        counts: tuple[int, ...] = plan.deal.value  # type: ignore[assignment]
        ways = arrangements(counts, places)
        if ways == 0:
            writer.line(f"deal({self.emitter.constant(counts)}, {places}, {first}, bits)")  # says why not
        width = ways.bit_length() + SPARE
        limit = max(1, (1 << width) // max(ways, 1) * ways)
        rank = self.emitter.name("t")
        writer.line(f"{rank} = bits({width})")
        with writer.block(f"while {rank} >= {limit}:"):
            writer.line(f"{rank} = bits({width})")
        derived = self.derived if plan.choice.variable == self.dealt else []
        finder = _Arranger(type_, counts, ways, first)
        name = self.emitter.keep(Allowed(finder))
        follow = self.emitter.name("g")
        variable = self.emitter.variable(plan.choice.variable)
        results = ", ".join([variable, *(source for source, _ in derived)])
        self.emitter.functions.append(f"def {follow}({variable}):\n    return ({results},)\n")
        self.links.append(lambda space: finder.connect(space[follow]))
        targets = ", ".join([value, *(n for _, n in derived)])
        writer.line(f"{targets}, = {name}[{rank} % {max(ways, 1)}]")

    def _shuffle(self, writer: Writer, plan: ChoicePlan, value: str, places: int, first: int) -> None:
        """Arrangements are tried until one is allowed; of those that weigh less, fewer are kept."""
        type_ = plan.choice.type
        assert isinstance(type_, MapType)
        assert plan.deal is not None
        gather = self.emitter.keep(lambda cards: gathered(type_, cards))
        counts = self.emitter.name("t")
        writer.line(f"{counts} = {self.emitter.scalar(plan.deal)}")
        conditions = [] if plan.refusals(PROPER) == TRUE else [self.emitter.scalar(plan.refusals(PROPER))]
        if plan.weight is not None:
            conditions.append(f"below({_heaviest(plan.weight)}, bits) < {self.emitter.scalar(plan.weight)}")
        with writer.block(f"for u in range({MOST_TRIES}):"):
            writer.line(f"{value} = {gather}(deal({counts}, {places}, {first}, bits))")
            with writer.block(f"if {' and '.join(conditions) or 'True'}:"):
                writer.line("break")
        with writer.block("else:"):
            writer.line("raise Stuck('no arrangement of the cards is allowed')")

    # --- many choosers ---

    def _each(self, writer: Writer, plan: ChoicePlan) -> str:
        type_ = self.program.model.variables[plan.choice.variable].type
        assert isinstance(type_, MapType)
        chosen = self.emitter.name("t")
        if is_bit(type_.value):
            self._each_bit(writer, plan, type_, chosen)
            return chosen
        value, seat = self.emitter.bound(plan.value), self.emitter.bound(plan.seat)
        nobody = entries(type_)(encoder(type_)(least(type_)))
        writer.line(f"{chosen} = list({self.emitter.constant(nobody)})")
        with writer.block(f"for {seat} in bits_of({self.program.choosers(plan)}):"):
            self._single(writer, plan, value)
            self._verify(writer, plan)
            writer.line(f"{chosen}[{seat}] = {value}")
        writer.line(f"{chosen} = tuple({chosen})")
        return chosen

    def _each_bit(self, writer: Writer, plan: ChoicePlan, type_: MapType, chosen: str) -> None:
        """All seats at once, a bit for each: masks of who may choose 0 and who may choose 1."""
        players = self.program.model.players
        full = str((1 << players.count) - 1)
        proper, legal = self._may(plan, PROPER), self._may(plan, LEGAL)
        group = self.program.choosers(plan)
        if not group.isidentifier() and not group.isdigit():
            name = self.emitter.name("t")
            writer.line(f"{name} = {group}")
            group = name
        zero, one = proper
        if full not in (zero, one):
            zero, one, stuck = (self.emitter.name("t") for _ in range(3))
            writer.line(f"{zero} = {proper[0]}")
            writer.line(f"{one} = {proper[1]}")
            with writer.block(f"if {group} & ~({zero} | {one}):"):  # nothing proper: what is allowed at all
                writer.line(f"{stuck} = ~({zero} | {one})")
                writer.line(f"{zero} |= {stuck} & {legal[0]}")
                writer.line(f"{one} |= {stuck} & {legal[1]}")
                with writer.block(f"if {group} & ~({zero} | {one}):"):
                    writer.line("raise Stuck('somebody must choose and nothing is allowed')")
        random = f"bits({players.count})"
        terms = [t for t in (group, one) if t != full]
        terms.append(random if zero == full else f"({random} | {full} ^ {zero})")
        writer.line(f"{chosen} = {' & '.join(terms)}")
        self._verify_bits(writer, plan, type_, chosen, group)

    def _may(self, plan: ChoicePlan, kinds: tuple[str, ...]) -> tuple[str, str]:
        """Masks of the seats that may choose the first value, and the second."""
        rules = plan.refusals(kinds)
        masks = []
        for number in (0, 1):
            type_ = plan.choice.type
            if number >= cardinality(type_):  # type: ignore[arg-type]
                masks.append("0")
                continue
            value = m.Literal(from_ordinal(type_, number), type_)  # type: ignore[arg-type]
            here = self.program.preparer.substitute(rules, {plan.value: value})
            masks.append(self.emitter.lanes(here, plan.seat, self.program.model.players))
        return masks[0], masks[1]

    def _verify_bits(self, writer: Writer, plan: ChoicePlan, type_: MapType, chosen: str, group: str) -> None:
        rules = plan.refusals(LEGAL)
        if rules == TRUE:
            return
        whole = self.program.preparer.fresh()
        entry = m.At(m.Bound(whole, type_), m.Bound(plan.seat, self.program.model.players), type_.value)
        written = self.program.preparer.substitute(rules, {plan.value: entry})
        writer.line(f"{self.emitter.bound(whole)} = {chosen}")
        allowed = self.emitter.lanes(written, plan.seat, self.program.model.players)
        with writer.block(f"if {group} & ~{allowed}:"):
            writer.line(f"raise {self._refusal(plan)}")


def _heaviest(weight: m.Expr) -> int:
    assert isinstance(weight.type, IntType)
    return max(1, weight.type.high)


class _Finder:
    """Finds the options of a choice when the rules' dependencies have certain values."""

    def __init__(self, plan: ChoicePlan, size: int, may_be_empty: bool) -> None:
        self._type = m.choice_type(plan.choice)
        self._optional = plan.choice.optional
        self._size = size
        self._may_be_empty = may_be_empty
        self._rules: list[Callable[[Raw, Any], Any]] = []

    def connect(self, rules: list[Callable[[Raw, Any], Any]]) -> None:
        self._rules = rules

    def __call__(self, key: Any) -> Any:
        proper, legal, *weigh = self._rules
        if self._size > MOST_LISTED and not weigh:
            return uniform(self._type, lambda x: (self._optional and x is None) or bool(proper(x, key)))
        found = self._meeting(proper, key) or self._meeting(legal, key)
        if weigh:
            return weighted(found, lambda x: int(weigh[0](x, key)))
        if self._size > MOST_SLOTTED or (self._may_be_empty and not found):
            return found
        return slots(found, slot_width(self._size))

    def _meeting(self, rule: Callable[[Raw, Any], Any], key: Any) -> list[Raw]:
        values = raw_values(self._type)
        declined = list(islice(values, 1)) if self._optional else []
        return declined + [x for x in values if rule(x, key)]


class _Arranger:
    """Finds the arrangement with a number, and what follows from it."""

    def __init__(self, type_: MapType, counts: tuple[int, ...], ways: int, first: int) -> None:
        self._type = type_
        self._counts = counts
        self._ways = ways
        self._first = first
        self._follow: Callable[[Raw], Any] = tuple

    def connect(self, follow: Callable[[Raw], Any]) -> None:
        self._follow = follow

    def __call__(self, rank: int) -> Any:
        laid = arrangement(self._counts, rank, self._ways, self._first)
        return self._follow(gathered(self._type, laid))
