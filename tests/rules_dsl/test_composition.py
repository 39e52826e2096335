"""Modules together: what they require and exclude when they are left open, whose rule is whose, phases put beside phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pytest

from avalon_logic.library import rulebook_library
from rules_dsl import (
    Model,
    RulebookError,
    build_model,
    compile_python,
    compose,
    library,
    parse,
    reference,
    settle,
)
from rules_dsl import model as m
from rules_dsl.evaluate import Environment, evaluate
from rules_dsl.selection import family_of
from rules_dsl.types import BOOL

BASE = """
game g {
  players 2..2
  result Player
  start draw_lots
  public turn: Player
  public points: 0..9 = 0
  phase draw_lots { turn chooses pick: 0..3 public  points := min(points + pick, 9)  next score }
  phase score { if points >= 5 { win turn }  turn := left(turn)  next draw_lots }
}
"""


def model_of(modules: str, put_in: Sequence[str] = (), left_open: Sequence[str] = ()) -> Model:
    return build_model(compose(library([parse(BASE + modules)]), "g", put_in, left_open))


def refusals(model: Model, **given: bool) -> list[str]:
    return [c.text for c in settle(model, {"players": 2, **given}).errors]


def test_what_an_open_module_requires_is_open_too() -> None:
    model = model_of("module a for g requires b { } module b for g { }", left_open=["a"])
    assert {n for n, p in model.params.items() if p.kind == "module"} == {"with_a", "with_b"}
    assert refusals(model, with_a=False, with_b=False) == []
    assert refusals(model, with_a=True, with_b=True) == []
    assert refusals(model, with_a=True, with_b=False) == ["module 'a' requires 'b'"]


def test_a_module_that_is_in_for_certain_keeps_what_it_requires_in() -> None:
    model = model_of(
        "module a for g requires b { } module b for g { } module c for g requires b { }", ["a"], ["c"]
    )
    assert {n for n, p in model.params.items() if p.kind == "module"} == {"with_c"}
    assert model.modules == ("b", "a", "c")


def test_open_modules_that_exclude_each_other_are_refused_only_together() -> None:
    model = model_of("module a for g excludes b { } module b for g { }", left_open=["a", "b"])
    together = ["modules 'a' and 'b' exclude each other"]
    assert [refusals(model, with_a=x, with_b=y) for x in (False, True) for y in (False, True)] == [
        [],
        [],
        [],
        together,
    ]
    half = model_of("module a for g excludes b { } module b for g { }", ["a"], ["b"])
    assert refusals(half, with_b=False) == []
    assert refusals(half, with_b=True) == together


def test_modules_that_exclude_each_other_cannot_both_be_put_in() -> None:
    with pytest.raises(RulebookError, match="exclude each other"):
        model_of("module a for g excludes b { } module b for g { }", ["a", "b"])


def test_a_requirement_added_to_a_choice_belongs_to_the_module_that_adds_it() -> None:
    model = model_of(
        'module a for g { extend draw_lots { on pick require pick != 2 "no twos" cite X-01 } }', ["a"]
    )
    (requirement,) = model.phases["draw_lots"].choices[0].requires
    assert (requirement.origin.module, requirement.origin.cites) == ("a", ("X-01",))
    assert model.phases["draw_lots"].choices[0].origin.module == "g"


def order_of_phases(model: Model) -> list[str]:
    """The phases entered in one round."""
    made = settle(model, {"players": 2}).model
    step = reference.step(made, reference.start(made).state, ((0, 1),))
    assert compile_python(made).step(reference.start(made).state, ((0, 1),)) == step
    return [o.phase for o in step.observations if o.kind == "phase"]


def test_a_phase_put_before_one_that_is_put_in_itself_is_reached_whatever_the_modules_names() -> None:
    for first, second in (("a", "z"), ("z", "a")):
        text = f"""
        module {first} for g {{ phase late before score {{ continue }} }}
        module {second} for g {{ phase early before late {{ continue }} }}
        """
        try:
            order = order_of_phases(model_of(text, [first, second]))
        except RulebookError as error:
            raise AssertionError(f"{first} then {second}: {error}") from None
        assert order == ["early", "late", "score", "draw_lots"]


def test_one_module_may_put_phases_before_and_another_after_the_same_step() -> None:
    text = """
    module a for g { phase behind after draw_lots { continue } }
    module b for g { phase ahead before score { continue } }
    """
    assert order_of_phases(model_of(text, ["a", "b"])) == ["behind", "ahead", "score", "draw_lots"]


def test_two_modules_that_change_one_variable_in_one_phase_say_which_comes_first() -> None:
    text = "module a for g { extend draw_lots { points := 0 } } module b for g%s { extend draw_lots { points := 1 } }"
    with pytest.raises(RulebookError, match="both change 'points'"):
        model_of(text % "", ["a", "b"])
    made = settle(model_of(text % " after a", ["a", "b"]), {"players": 2}).model
    after = reference.step(made, reference.start(made).state, ((0, 3),)).state
    assert dict(zip(made.variables, after.values, strict=True))["points"] == 1


def test_an_addition_that_comes_after_an_override_is_kept() -> None:
    text = """
    module bonus for g after quick { extend score { points := 9 } }
    module quick for g { override phase score { next draw_lots } }
    """
    made = settle(model_of(text, ["bonus", "quick"]), {"players": 2}).model
    assert [type(x).__name__ for x in made.phases["score"].body] == ["Assign", "Next"]


@pytest.mark.parametrize("names", [("a", "z"), ("z", "a")])
def test_a_module_that_only_keeps_notes_comes_after_one_that_overrides_the_phase(
    names: tuple[str, str],
) -> None:
    notes, rules = names
    text = f"""
    module {notes} for g {{ public rounds: 0..9 = 0  extend score {{ rounds := min(rounds + 1, 9) }} }}
    module {rules} for g {{ override phase score {{ points := 0  next draw_lots }} }}
    """
    model = model_of(text, names)
    assert model.modules == (rules, notes)
    assert len(model.phases["score"].body) == 3


def test_modules_that_never_play_together_need_no_order() -> None:
    text = """
    module a for g excludes b { extend draw_lots { points := 0 } }
    module b for g { extend draw_lots { points := 1 } }
    """
    assert model_of(text, left_open=["a", "b"]).modules == ("a", "b")


def test_an_order_holds_by_way_of_a_module_that_is_not_in_play() -> None:
    text = """
    module a for g after b { extend draw_lots { points := 0 } }
    module b for g after c { }
    module c for g { extend draw_lots { points := 1 } }
    """
    assert model_of(text, ["a", "c"]).modules == ("c", "a")


def test_what_modules_put_to_the_front_stands_in_their_order() -> None:
    text = """
    module a for g { extend draw_lots first { left(turn) chooses x: Bool public  points := 0 } }
    module b for g after a { extend draw_lots first { right(turn) chooses y: Bool public  points := 1 } }
    """
    phase = model_of(text, ["a", "b"]).phases["draw_lots"]
    assert [c.variable for c in phase.choices] == ["x", "y", "pick"]
    assert [x.origin.module for x in phase.body] == ["a", "b", "g", "g"]


def test_an_override_of_a_phase_of_an_open_module_is_passed_over_with_that_module_out() -> None:
    text = """
    module night for g { phase dusk before score when points < 9 { turn chooses y: Bool public  continue } }
    module late for g after night { override phase dusk when points > 0 { turn chooses y: Bool public  continue } }
    """
    model = model_of(text, ["late"], ["night"])
    for there in (False, True):
        made = settle(model, {"players": 2, "with_night": there}).model
        after = reference.step(made, reference.start(made).state, ((0, 1),)).state
        assert (after.phase == "dusk") == there


def test_the_word_for_an_open_module_cannot_be_taken_by_a_name() -> None:
    with pytest.raises(RulebookError, match="'with_a' already says whether module 'a' is in play"):
        model_of("module a for g { public with_a: Bool = true }", left_open=["a"])
    text = """
    module a for g after b { override def odd(with_a: Bool) = not base(with_a) }
    module b for g { def odd(with_a: Bool) = with_a }
    """
    model = model_of(text, ["b"], ["a"])
    for there in (False, True):
        made = settle(model, {"players": 2, "with_a": there}).model
        yes = m.Invoke("odd", (m.Literal(True, BOOL),), BOOL)
        assert evaluate(yes, Environment(made, 2)) is not there


def test_a_table_keyed_by_seats_keeps_the_cells_of_the_seats_taken() -> None:
    text = """
    game t {
      players 2..4
      enum Side { good, evil }
      result Side
      start go
      table worth[Side, Player] { good: 0 1 2 3  evil: 10 11 12 13 }
      public found: 0..20
      public turn: Player
      phase go {
        turn chooses side: Side public
        found := worth[side, turn]
        turn := left(turn)
        next go
      }
    }
    """
    model = build_model(compose(library([parse(text)]), "t"))
    for players in (2, 3, 4):
        made = settle(model, {"players": players}).model
        for seat in range(players):
            for side, value in (("good", seat), ("evil", 10 + seat)):
                state = replace(reference.start(made).state, values=(0, seat, "good"))
                for step in (reference.step, lambda m, s, x: compile_python(m).step(s, x)):
                    assert step(made, state, ((seat, side),)).state.values[0] == value


@pytest.mark.parametrize("game", ["resistance", "avalon", "avalon_2021"])
def test_every_mix_of_the_shipped_modules_has_an_order(game: str) -> None:
    lib = rulebook_library()
    family = {g.name for g in family_of(lib, game)}
    fitting = sorted(n for n, m in lib.modules.items() if any(b.name in family for b in m.bases))
    for size in range(len(fitting) + 1):
        for mix in combinations(fitting, size):
            assert compose(lib, game, mix).name == game
