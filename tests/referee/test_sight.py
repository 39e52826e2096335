"""Who sees whom and the reveal script, for every legal set of roles, against the books' tables copied by hand."""

from __future__ import annotations

import pytest

from avalon_logic.configuration import Configuration
from avalon_logic.referee.booklet import facts_of, words_for
from avalon_logic.referee.facts import Facts
from avalon_logic.referee.messages import LANGUAGES
from avalon_logic.referee.player_tables import script_lines
from tests.referee import books

SETS = list(books.role_sets())
VARIANTS = [
    pytest.param({}, (), {}, id="as the books have it"),
    pytest.param({}, ("blind_spies",), {"blind": True}, id="isolated spies"),
    pytest.param(
        {"oberon_thumb": "hidden_from_merlin"}, (), {"oberon_raises": False}, id="Oberon hidden from Merlin"
    ),
]
MARKS = {"fellows": "E", "thumbs": "E", "magicians": "M"}


def _facts(n: int, roles: tuple[str, ...], modules: tuple[str, ...], rulings: dict[str, str]) -> Facts | None:
    if "oberon_thumb" in rulings and "oberon" not in roles:
        return None
    return facts_of(Configuration("avalon", n, modules, roles, rulings))


@pytest.mark.parametrize(("rulings", "modules", "options"), VARIANTS)
def test_every_role_sees_what_the_books_show_it(
    rulings: dict[str, str], modules: tuple[str, ...], options: dict[str, bool]
) -> None:
    checked = 0
    for n, roles in SETS:
        facts = _facts(n, roles, modules, rulings)
        if facts is None:
            continue
        deck = books.deck(n, roles)
        assert facts.stage.deck == {r: deck[r] for r in facts.stage.deck}
        for looker in deck:
            for other in deck:
                if looker == other and deck[other] == 1:
                    continue
                seen = {MARKS[s] for s in facts.sight.shows(looker, other)}
                assert "".join(seen) == books.sees(looker, other, **options), (n, roles, looker, other)
                checked += 1
    assert checked > 400


def _as_in_the_books(facts: Facts) -> list[tuple[str, frozenset[str]]]:
    named: list[tuple[str, frozenset[str]]] = []
    for step in facts.script:
        roles = frozenset(step.roles)
        match step.key:
            case "close_all" | "close_all_fists":
                key = "close_all"
            case "check" | "open_all":
                key = step.key
            case "look_round":
                key = "evil_open"
            case "thumbs_up":
                key = "perc_thumb" if step.to == ("percival",) else "evil_thumb"
            case "thumbs_down":
                key = "perc_fist" if step.to == ("percival",) else "evil_fist"
            case _:
                who = {"merlin": "merlin", "percival": "perc"}.get(step.roles[0], "evil")
                key = f"{who}_{'close' if step.key == 'close' else 'open'}"
        named.append((key, roles))
    return named


@pytest.mark.parametrize(("rulings", "modules", "options"), VARIANTS)
def test_the_script_has_the_lines_of_the_books_for_every_role_set(
    rulings: dict[str, str], modules: tuple[str, ...], options: dict[str, bool]
) -> None:
    for n, roles in SETS:
        facts = _facts(n, roles, modules, rulings)
        if facts is not None:
            assert _as_in_the_books(facts) == books.script(books.deck(n, roles), **options), (n, roles)


def test_the_resistance_has_four_lines_and_no_fists() -> None:
    facts = facts_of(Configuration("resistance", 7))
    assert [s.key for s in facts.script] == ["close_all", "look_round", "close", "open_all"]
    assert facts.script[1].roles == ("spy",)


def test_isolated_spies_have_no_script() -> None:
    assert facts_of(Configuration("resistance", 7, ("blind_spies",))).script == ()


def test_without_merlin_nobody_raises_a_thumb() -> None:
    facts = facts_of(Configuration("avalon", 7, (), (), {"merlin_in_play": "optional_no_naming"}))
    assert [s.key for s in facts.script] == ["close_all", "look_round", "close", "open_all"]


def test_only_plain_minions_look_if_only_they_are_called() -> None:
    facts = facts_of(Configuration("avalon", 5, rulings={"called_minions": "plain_only"}))
    steps = {s.key: s.roles for s in facts.script}
    assert steps["look_round"] == ("minion",)
    assert steps["thumbs_up"] == ("minion",)


NAMES = {
    "en": {"percival": "Percival", "morgana": "Morgana", "oberon": "Oberon"},
    "fr": {"percival": "Perceval", "morgana": "Morgane", "oberon": "Obéron"},
    "es": {"percival": "Perceval", "morgana": "Morgana", "oberon": "Oberón"},
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_script_mentions_a_role_exactly_when_it_is_in_play(language: str) -> None:
    for n, roles in SETS:
        configuration = Configuration("avalon", n, (), roles)
        text = " ".join(script_lines(facts_of(configuration), words_for(configuration, language)))
        for role, name in NAMES[language].items():
            expected = role in roles and (role != "morgana" or "percival" in roles)
            assert (name in text) == expected, (n, roles, text)
        excepted = {"en": "but not Mordred", "fr": "sauf Mordred", "es": "menos Mordred"}[language]
        assert (excepted in text) == ("mordred" in roles)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (
            "en",
            "Minions of Mordred, and also Oberon, but not Mordred: eyes closed, raise your thumbs for Merlin.",
        ),
        ("fr", "Sbires de Mordred, et aussi Obéron, sauf Mordred : yeux fermés, levez le pouce pour Merlin."),
        (
            "es",
            "Esbirros de Mordred, y también Oberón, menos Mordred: con los ojos cerrados, levantad el pulgar para Merlín.",
        ),
    ],
)
def test_exceptions_and_those_called_besides_are_named(language: str, line: str) -> None:
    configuration = Configuration("avalon", 7, (), ("merlin", "assassin", "mordred", "oberon"))
    assert line in script_lines(facts_of(configuration), words_for(configuration, language))


@pytest.mark.parametrize(
    ("language", "one", "many"),
    [
        ("fr", "Merlin : ferme les yeux.", "Sbires de Mordred : fermez les yeux."),
        ("es", "Merlín: cierra los ojos.", "Esbirros de Mordred: cerrad los ojos."),
    ],
)
def test_one_player_is_addressed_in_the_singular(language: str, one: str, many: str) -> None:
    configuration = Configuration("avalon", 5)
    lines = script_lines(facts_of(configuration), words_for(configuration, language))
    assert one in lines
    assert many in lines
