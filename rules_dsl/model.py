"""The model: one composed game, typed and finite. Every back end reads this and nothing else.

A model is a multi-agent transition system with hidden information. Its state is the current phase, the index
of the choice awaited in that phase, and a value for every variable. What each part *means* is defined by
`reference`, the interpreter; this file only says what there is. Spans, modules and citations ride along and
never affect equality.
"""

# ruff: noqa: RUF009 - the default of a place is a dataclass field, not a shared value

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rules_dsl.source import NOWHERE, Span
from rules_dsl.types import BOOL, EnumType, IndexType, OptionalType, PlayerType
from rules_dsl.types import Type as Type

# A plain value: bool, int (numbers and seats), str (enum members), frozenset, tuple (maps by key order, bag
# counts by kind order, stacks from bottom to top), None (the optional `none`).
Value = bool | int | str | frozenset["Value"] | tuple["Value", ...] | None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a part of the model was written, by which game or module, and which clauses it states."""

    module: str
    cites: tuple[str, ...] = ()
    span: Span = NOWHERE


BUILT_IN = Origin("")


def _origin() -> Origin:
    return field(default=BUILT_IN, compare=False, repr=False)


# --- expressions -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    value: Value
    type: Type


@dataclass(frozen=True, slots=True)
class Variable:
    """The current value of a state variable."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Parameter:
    """Something fixed before the game: the number of players, the deck, a ruling, a module being in."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Bound:
    """A name bound by a quantifier, a definition's parameter, a chooser or the value just being chosen."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Lookup:
    """A cell of a table. Attributes of enum members are tables too, named `Enum.attribute`."""

    table: str
    keys: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class At:
    """The entry of a map, or the number of one kind in a bag."""

    base: Expr
    key: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Apply:
    """A built-in operation; `OPERATIONS` lists them with what they take and give."""

    operation: str
    arguments: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Range:
    """What a quantifier's name ranges over: all values of an index type, or the members of a set."""

    name: str
    type: IndexType
    domain: Expr | None


@dataclass(frozen=True, slots=True)
class Quantify:
    """`count`, `sum`, `exists`, `all`, `set` (one range) or `map` (one range, no condition)."""

    kind: str
    ranges: tuple[Range, ...]
    condition: Expr | None
    body: Expr | None
    type: Type


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call of a definition."""

    definition: str
    arguments: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class InPhase:
    """Properties only: the game stands in this phase."""

    phase: str
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class Over:
    """Properties only: the game has ended."""

    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class Winner:
    """Properties only: the result, or `none` while the game goes on or when it ended without one."""

    type: Type


@dataclass(frozen=True, slots=True)
class Knows:
    """Properties only: in every history that looks the same to this player, the fact holds."""

    player: Expr
    fact: Expr
    type: Type = BOOL


Expr = (
    Literal
    | Variable
    | Parameter
    | Bound
    | Lookup
    | At
    | Apply
    | Quantify
    | Invoke
    | InPhase
    | Over
    | Winner
    | Knows
)

OPERATIONS: Mapping[str, str] = {
    "not": "Bool -> Bool",
    "and": "Bool, Bool -> Bool",
    "or": "Bool, Bool -> Bool",
    "implies": "Bool, Bool -> Bool",
    "iff": "Bool, Bool -> Bool",
    "if": "Bool, T, T -> T",
    "eq": "T, T -> Bool",
    "ne": "T, T -> Bool",
    "lt": "int, int -> Bool (seats compare by number)",
    "le": "int, int -> Bool",
    "gt": "int, int -> Bool",
    "ge": "int, int -> Bool",
    "neg": "int -> int",
    "add": "int, int -> int",
    "sub": "int, int -> int",
    "mul": "int, int -> int",
    "div": "int, positive literal -> int, rounded down",
    "mod": "int, positive literal -> int, never negative",
    "min": "int, int -> int",
    "max": "int, int -> int",
    "in": "T, Set<T> -> Bool",
    "subset": "Set<T>, Set<T> -> Bool",
    "union": "Set<T>, Set<T> -> Set<T>",
    "inter": "Set<T>, Set<T> -> Set<T>",
    "minus": "Set<T>, Set<T> -> Set<T>",
    "set": "T, ... -> Set<T>",
    "size": "Set, Bag or Stack -> int",
    "left": "Player -> Player, the next seat clockwise",
    "right": "Player -> Player, the seat before",
    "insert": "Bag<T>, T -> Bag<T>, full kinds stay as they are",
    "remove": "Bag<T>, T -> Bag<T>, absent kinds stay as they are",
    "push": "Stack<T>, T -> Stack<T>, a full stack stays as it is",
    "pop": "Stack<T> -> Stack<T>, an empty stack stays as it is",
    "top": "Stack<T> -> T?",
    "some": "T -> T?",
    "is_none": "T? -> Bool",
    "otherwise": "T?, T -> T",
}

# --- declarations ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Table:
    """Cells in key order, the last key running fastest. Cells speak of parameters at most."""

    name: str
    keys: tuple[IndexType, ...]
    cells: tuple[Expr, ...]
    type: Type
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter. `kind` is "players", "param", "ruling" or "module"."""

    name: str
    kind: str
    type: Type
    default: Expr
    text: str = ""
    alternatives: tuple[tuple[str, str], ...] = ()
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Check:
    """A condition on the parameters; when it fails the message is an error, a warning or a note."""

    severity: str
    condition: Expr
    text: str
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Audience:
    """Who sees a value: "public" all, "hidden" nobody, "own" each seat its entry of a map, "to" some seats.

    Whoever makes a choice always sees what he chose himself.
    """

    kind: str
    to: Expr | None = None


@dataclass(frozen=True, slots=True)
class StateVariable:
    """`kind` is "state", "choice", "speaker" (who spoke for a group), or "published"."""

    name: str
    type: Type
    kind: str
    audience: Audience
    initial: Expr
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Definition:
    name: str
    parameters: tuple[tuple[str, Type], ...]
    value: Expr
    type: Type
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Require:
    """A condition on a value chosen. "require": else it cannot be played. "ought": else it is a breach."""

    kind: str
    condition: Expr
    text: str
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Chooser:
    """Who chooses.

    "player": the seat `who`. "each": every seat `seat` of `domain` with `condition`, at the same time, each
    seeing none of the others' choices. "one": one seat of them speaks for all. "chance": nature.
    """

    kind: str
    who: Expr | None = None
    seat: str = ""
    domain: Expr | None = None
    condition: Expr | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """One decision. `type` is what one chooser chooses; with `optional` he may decline, which gives `none`.

    Inside `requires`, `weight` and (for "each" and "one") the name `Chooser.seat` is bound to the seat that
    chooses and `variable` is bound to the value chosen; everything else has its value from before the choice.
    For "each" the variable is a map from seats; seats that do not choose get the least value of the type
    (`none` if optional). If `when` is false, or no seat is to choose, the choice is passed over and the
    variable takes that least value. `deal` is the bag or map of counts a chance deal arranges over the keys
    of a map, every arrangement alike.
    """

    variable: str
    chooser: Chooser
    type: Type
    optional: bool
    audience: Audience
    requires: tuple[Require, ...]
    deal: Expr | None = None
    weight: Expr | None = None
    when: Expr | None = None
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Assign:
    """`variable[keys...] := value`."""

    variable: str
    keys: tuple[Expr, ...]
    value: Expr
    published: bool = False
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Show:
    """Each seat of `domain` with `condition` privately learns `value`; the others learn that they did not."""

    name: str
    seat: str
    domain: Expr | None
    condition: Expr | None
    value: Expr
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Win:
    """The game ends with this result, or with none."""

    value: Expr | None
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Next:
    phase: str
    origin: Origin = _origin()


Statement = Assign | If | Show | Win | Next


@dataclass(frozen=True, slots=True)
class Phase:
    """Choices in order, then effects. If `when` is false on entry the phase is passed over to `otherwise`."""

    name: str
    choices: tuple[Choice, ...]
    body: tuple[Statement, ...]
    when: Expr | None = None
    otherwise: str = ""
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Speech:
    """Something anybody may say at any time; it changes nothing."""

    name: str
    parameters: tuple[tuple[str, Type], ...]
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Assumption:
    """How people tend to play. `target` is a choice's variable (then `seat` is the chooser and the variable's
    name the value chosen) or a speech (then its parameters are bound). "require" is hard, "weight" a
    likelihood in percent."""

    name: str
    text: str
    target: str
    seat: str
    kind: str
    value: Expr
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Property:
    """A claim about all games with the verdict its author expects."""

    kind: str
    name: str
    text: str
    value: Expr | None
    bound: int | None
    expect: str
    origin: Origin = _origin()
    phase: str | None = None  # for "silent" and "symmetric": the phase it is about
    seat: str = ""  # for "silent": the name `value` calls a seat by; no value means every seat


@dataclass(frozen=True)
class Model:
    name: str
    text: str
    family: tuple[str, ...]  # the game and those it extends
    modules: tuple[str, ...]
    fewest: int
    most: int
    players: PlayerType
    enums: Mapping[str, EnumType]
    tables: Mapping[str, Table]
    params: Mapping[str, Param]
    checks: tuple[Check, ...]
    variables: Mapping[str, StateVariable]
    definitions: Mapping[str, Definition]
    phases: Mapping[str, Phase]
    start: str
    result: Type
    speeches: Mapping[str, Speech]
    assumptions: Mapping[str, Assumption]
    properties: Mapping[str, Property]

    @property
    def settled(self) -> bool:
        """Is every parameter fixed, so that the model is one concrete game?"""
        return not self.params


def choice_type(choice: Choice) -> Type:
    """What one chooser can end up with: the type, or `none` as well."""
    return OptionalType(choice.type) if choice.optional else choice.type


def written_by(choice: Choice) -> tuple[str, ...]:
    """The variables a choice gives a value, made or passed over: its own and, where one speaks for all, who did."""
    if choice.chooser.kind == "one":
        return (choice.variable, f"{choice.variable}_by")
    return (choice.variable,)


PLAYERS = "players"


def module_parameter(module: str) -> str:
    """The parameter that says whether a module left open is in play."""
    return f"with_{module}"
