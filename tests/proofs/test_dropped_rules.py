"""Rules that matter have a property that notices when they are gone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

import pytest

from avalon_logic.proving import property_files
from proofs.families import families
from proofs.prover import Options, prove
from rules_dsl import Value, library, parse
from rules_dsl.syntax import Rulebook

DROPPED = [
    pytest.param(
        "core.rules",
        "if players >= 7 and fourth then 2 else 1",
        "1",
        ("resistance", ()),
        ("two_fails_for_the_fourth",),
        id="two fails for the fourth quest",
    ),
    pytest.param(
        "core.rules",
        "if rejections == 5 { win evil }",
        "if rejections == 5 and players < 5 { win evil }",
        ("resistance", ()),
        ("five_rejections_end_the_game",),
        id="five rejections",
    ),
    pytest.param(
        "core.rules",
        "2 * count(p in Player | approve[p]) > players",
        "2 * count(p in Player | approve[p]) >= players",
        ("resistance", ()),
        ("approved_by_a_strict_majority",),
        id="a tie rejects",
    ),
    pytest.param(
        "targeting.rules",
        "require gated and target == 5 implies successes >= 2",
        "require true",
        ("resistance", ("targeting",)),
        ("the_fifth_quest_waits", "the_fifth_quest_needs_two_successes"),
        id="the gate of the fifth quest",
    ),
    pytest.param(
        "lady.rules",
        "require not examined in past_holders",
        "require true",
        ("avalon", ("lady",)),
        ("holders_never_repeat", "the_first_holder_is_never_examined"),
        id="who used the Lady is not examined",
    ),
    pytest.param(
        "lady.rules",
        "size(past_holders) < 3 and",
        "true and",
        ("avalon", ("lady", "targeting")),
        ("at_most_three_uses",),
        id="three uses of the Lady",
    ),
    pytest.param(
        "lady.rules",
        "require examined != holder",
        "require true",
        ("avalon", ("lady",)),
        ("holders_never_repeat", "the_first_holder_is_never_examined"),
        id="the Lady's holder is not examined",
    ),
    pytest.param(
        "lady.rules",
        "just_resolved >= 2 and",
        "true and",
        ("avalon", ("lady",)),
        ("not_before_the_second_quest", "the_lady_comes_after_the_right_quests"),
        id="the Lady waits for the second quest",
    ),
    pytest.param(
        "lady.rules",
        "just_resolved <= 4 and",
        "true and",
        ("avalon", ("lady", "targeting")),
        ("the_lady_comes_after_the_right_quests",),
        id="the Lady is not used after the fifth quest",
    ),
    pytest.param(
        "lady.rules",
        "(lady_at_end == used_first or successes < 3 and failures < 3)",
        "true",
        ("avalon", ("lady",)),
        ("not_after_the_last_quest",),
        id="the Lady is not used when the quests are decided",
    ),
    pytest.param(
        "lady.rules",
        "then evil else good",
        "then good else evil",
        ("avalon", ("lady",)),
        ("a_wrong_card_loses",),
        id="a wrong loyalty card loses",
    ),
]


@lru_cache(maxsize=1)
def sources() -> dict[str, str]:
    folder = files("avalon_logic") / "rulebooks"
    found = {f.name: f.read_text(encoding="utf-8") for f in folder.iterdir() if f.name.endswith(".rules")}
    return found | {path.name: path.read_text(encoding="utf-8") for path in property_files()}


# what a refutation needs where it is long in coming: what is refuted at some tables is refuted
TABLES: dict[str, dict[str, Value]] = {
    "size(past_holders) < 3 and": {"players": 5, "lady_after": "by_space", "repeat_quest": "again"},
}
CLAIMS = {"lady.rules": ("lady_claims",), "targeting.rules": ("core_claims", "targeting_claims")}


def outcomes(
    changed: str, old: str, new: str, table: tuple[str, Sequence[str]], names: Sequence[str]
) -> dict[str, str]:
    text = sources()[changed]
    assert old in text
    books: list[Rulebook] = [
        parse(text.replace(old, new) if name == changed else text_, name) for name, text_ in sources().items()
    ]
    game, modules = table
    claims = CLAIMS.get(changed, ("core_claims",))
    (family,) = families(library(books), [game], claims, modules=modules, fixed=TABLES.get(old))
    options = Options(seconds=30, deepest=26, games=20, only=tuple(names))
    return {v.name: v.outcome for v in prove(family.model, family.name, options)}


@pytest.mark.parametrize(("rulebook", "old", "new", "table", "names"), DROPPED)
def test_a_dropped_rule_is_noticed(
    rulebook: str, old: str, new: str, table: tuple[str, Sequence[str]], names: Sequence[str]
) -> None:
    found = outcomes(rulebook, old, new, table, names)
    assert set(found) == set(names)
    assert set(found.values()) == {"refuted"}


def test_nothing_is_noticed_when_nothing_is_dropped() -> None:
    names = ("two_fails_for_the_fourth", "five_rejections_end_the_game", "approved_by_a_strict_majority")
    found = outcomes("core.rules", "start deal", "start deal", ("resistance", ()), names)
    assert set(found.values()) == {"proved"}
