"""Which tables the rules refuse, warn about or remark on, and with which clause."""

import pytest

from avalon_logic.configuration import (
    Configuration,
    Refused,
    describe_check,
    examine,
    load,
    modules_for_roles,
)
from rules_dsl import BadParameter, UnknownName
from rules_dsl.python import compile_python

OPTIONAL = {"merlin_in_play": "optional_no_naming"}


def findings(
    players: int, *roles: str, modules: tuple[str, ...] = (), game: str = "avalon", **rulings: str
) -> list[tuple[str, tuple[str, ...]]]:
    settled = examine(Configuration(game, players, modules, roles or None, rulings))
    return [(f.severity, f.origin.cites) for f in settled.findings]


@pytest.mark.parametrize("game", ["avalon", "avalon_2021", "resistance"])
@pytest.mark.parametrize("players", [0, 4, 11, 1000, -1])
def test_fewer_than_five_or_more_than_ten_players_are_refused(game: str, players: int) -> None:
    with pytest.raises(BadParameter, match=r"5 to 10 players, not .*\(CORE-01\)"):
        load(Configuration(game, players))


@pytest.mark.parametrize("game", ["avalon", "avalon_2021", "resistance"])
@pytest.mark.parametrize("players", range(5, 11))
def test_the_books_own_deck_is_fine_at_every_table(game: str, players: int) -> None:
    settled = load(Configuration(game, players))
    assert settled.findings == ()
    deck = settled.params["deck"]
    assert isinstance(deck, tuple)
    assert sum(deck) == players  # type: ignore[arg-type]
    evil = {5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 4}[players]
    sides = [
        cell.value  # type: ignore[union-attr]
        for cell in settled.model.tables["Role.side"].cells
    ]
    assert sum(n for n, side in zip(deck, sides, strict=True) if side == "evil") == evil  # type: ignore[misc]


def test_one_evil_card_too_many_is_refused_for_both_sides() -> None:
    deck = ("merlin", "servant", "assassin", "minion", "minion")
    assert findings(5, *deck) == [("error", ("CORE-02",)), ("error", ("CORE-02",))]
    with pytest.raises(Refused) as refused:
        load(Configuration("avalon", 5, (), deck))
    assert refused.value.cites == ("CORE-02", "CORE-02")
    assert "CORE-02" in str(refused.value)


def test_two_merlins_are_refused() -> None:
    assert ("error", ("CORE-03",)) in findings(5, "merlin", "merlin", "servant", "assassin", "minion")


def test_merlin_without_assassin_is_refused() -> None:
    assert findings(5, "merlin", "servant", "servant", "minion", "minion") == [("error", ("AMB-12",))]


def test_assassin_without_merlin_is_warned_about_where_merlin_is_optional() -> None:
    deck = ("servant", "servant", "servant", "assassin", "minion")
    assert findings(5, *deck, **OPTIONAL) == [("warning", ("AMB-12",))]


def test_no_merlin_is_refused_where_he_is_always_in_play() -> None:
    deck = ("servant", "servant", "servant", "assassin", "minion")
    assert findings(5, *deck) == [("error", ("AMB-11", "CORE-03"))]


def test_percival_without_merlin_is_refused_unless_the_table_allows_it() -> None:
    deck = ("percival", "servant", "servant", "servant", "morgana", "minion", "minion")
    assert findings(7, *deck, **OPTIONAL) == [("error", ("AMB-13",))]
    assert findings(7, *deck, **OPTIONAL, percival_without_merlin="allowed") == []


def test_percival_at_five_players_needs_mordred_or_morgana() -> None:
    assert findings(5, "merlin", "assassin", "percival") == [("error", ("ROLE-10",))]
    assert findings(5, "merlin", "assassin", "percival", "morgana") == []
    assert findings(5, "merlin", "assassin", "percival", "mordred") == []
    assert findings(6, "merlin", "assassin", "percival") == []


@pytest.mark.parametrize(("players", "most"), [(5, 1), (7, 2), (9, 2), (10, 3)])
def test_beside_the_assassin_there_is_room_for_one_evil_role_less_than_evil_players(
    players: int, most: int
) -> None:
    base, extra = ("merlin", "assassin", "percival"), ("morgana", "mordred", "oberon")
    assert findings(players, *base, *extra[:most]) == []
    if most < 3:
        assert ("error", ("CORE-02",)) in findings(players, *base, *extra[: most + 1])


def test_morgana_without_percival_is_warned_about() -> None:
    assert findings(7, "merlin", "assassin", "morgana") == [("warning", ("ROLE-08",))]
    # also where Percival could have been chosen and was not
    assert findings(7, "merlin", "assassin", "morgana", modules=("percival",)) == [("warning", ("ROLE-08",))]


def test_mordred_without_merlin_is_warned_about_and_oberon_is_not() -> None:
    plain = ("servant",) * 4
    assert findings(7, *plain, "mordred", "minion", "minion", **OPTIONAL) == [("warning", ("ROLE-06",))]
    assert findings(7, *plain, "oberon", "minion", "minion", **OPTIONAL) == []


@pytest.mark.parametrize("players", range(5, 11))
def test_the_lady_below_seven_players_is_remarked_on(players: int) -> None:
    expected = [("note", ("LADY-10",))] if players < 7 else []
    assert findings(players, modules=("lady",)) == expected


def test_isolated_spies_with_merlin_are_warned_about_and_without_special_roles_are_not() -> None:
    assert findings(5, modules=("blind_spies",)) == [("warning", ("REV-E",))]
    assert findings(5, modules=("blind_spies",), game="resistance") == []


def test_a_finding_is_told_with_its_clause() -> None:
    (note,) = examine(Configuration("avalon", 5, ("lady",))).findings
    assert describe_check(note).endswith("(LADY-10)")


# --- lists of roles ---


def test_naming_all_cards_or_only_the_special_ones_gives_the_same_game() -> None:
    full = ("merlin", "percival", "servant", "servant", "assassin", "morgana", "minion")
    short = ("merlin", "percival", "assassin", "morgana")
    whole, special = (load(Configuration("avalon", 7, (), roles)) for roles in (full, short))
    assert whole.params["deck"] == special.params["deck"]


def test_the_order_of_the_cards_does_not_matter() -> None:
    full = ("merlin", "servant", "servant", "assassin", "minion")
    decks = {load(Configuration("avalon", 5, (), roles)).params["deck"] for roles in (full, full[::-1])}
    assert len(decks) == 1


def test_roles_bring_their_modules_along() -> None:
    assert modules_for_roles("avalon", ["merlin", "percival", "morgana"]) == ("morgana", "percival")
    assert modules_for_roles("avalon_2021", ["merlin", "oberon"]) == ("oberon",)


@pytest.mark.parametrize(
    ("game", "role"),
    [("avalon", "gandalf"), ("resistance", "merlin"), ("avalon", "spy"), ("avalon", "Merlin")],
)
def test_a_role_the_game_does_not_have_is_named_with_those_it_has(game: str, role: str) -> None:
    with pytest.raises(UnknownName, match=f"no role '{role}'.*there are: "):
        load(Configuration(game, 5, (), (role,)))


@pytest.mark.parametrize(
    "roles",
    [
        ("merlin", "assassin", "servant"),
        ("merlin", "assassin", "assassin"),
        ("merlin", "servant", "servant", "servant", "assassin", "minion"),
    ],
)
def test_neither_a_whole_deck_nor_special_roles_once_each_is_refused(roles: tuple[str, ...]) -> None:
    with pytest.raises(BadParameter, match="name all 5 cards, or only the special roles, once each"):
        load(Configuration("avalon", 5, (), roles))


def test_unknown_games_modules_rulings_and_alternatives_are_named() -> None:
    wrong = {
        "chess": Configuration("chess"),
        "dragons": Configuration("avalon", 5, ("dragons",)),
        "tea": Configuration("avalon", 5, rulings={"tea": "milk"}),
        "milk": Configuration("avalon", 5, rulings={"fifth_team": "milk"}),
    }
    for word, configuration in wrong.items():
        with pytest.raises(UnknownName, match=word):
            load(configuration)


def test_a_parameter_that_is_no_ruling_cannot_be_set_as_one() -> None:
    with pytest.raises(UnknownName, match="no ruling 'players'"):
        load(Configuration("avalon", 5, rulings={"players": "6"}))


def test_equal_tables_share_one_settled_game_and_it_can_be_compiled() -> None:
    settled = load(Configuration("avalon", 6))
    assert settled is load(Configuration("avalon", 6))
    assert compile_python(settled.model).start().state.phase == "deal"
