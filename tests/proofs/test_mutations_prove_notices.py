"""Mistakes in the shipped rulebooks that `avalon prove` must notice by itself, without examples and random games: with
the mistake in its place one shipped property gets another verdict than its author expects, and without it the same
question is answered as expected.

Each question is asked about a table as small as the mistake allows, with the module of claims that states the property.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import pytest

from avalon_logic.proving import property_files
from proofs.families import Family, families
from proofs.mutation import Mutant, mutated
from proofs.prover import Options, prove
from proofs.verdicts import BOUNDED, PROVED, UNKNOWN, Verdict
from rules_dsl import RulebookError, Value, library, parse
from rules_dsl import syntax as s
from rules_dsl.evaluate import Environment, holds
from rules_dsl.model import Property
from rules_dsl.settle import settle
from tests.mutation.checks import Shelf, all_mutants, shipped

AVALON = ("lady", "mordred", "morgana", "oberon", "percival")


@dataclass(frozen=True)
class Mistake:
    """`old` in a rulebook file became `new`; the claim that must notice, and the table it is asked about."""

    file: str
    old: str
    new: str
    claim: str
    game: str = "resistance"
    modules: tuple[str, ...] = ()
    fixed: Mapping[str, Value] = field(default_factory=lambda: {"players": 5})


MISTAKES = {
    # who sees what
    "quest cards are laid open": Mistake(
        "core.rules", "card: Card secret", "card: Card public", "everybody_learns_whose_fail_it_was"
    ),
    "the leader looks at the quest cards": Mistake(
        "core.rules",
        "card: Card secret",
        "card: Card shown to { leader }",
        "the_leader_learns_whose_fail_it_was",
    ),
    "votes stay secret": Mistake(
        "core.rules", "approve: Bool public", "approve: Bool secret", "everybody_sees_every_vote"
    ),
    "the team stays secret": Mistake(
        "core.rules", "team: Set<Player> public", "team: Set<Player> secret", "everybody_sees_the_team"
    ),
    "the deal is open": Mistake("core.rules", "from deck own", "from deck public", "good_players_see_nobody"),
    "the loyalty card is open": Mistake(
        "lady.rules",
        "loyalty: Side shown to { holder }",
        "loyalty: Side public",
        "only_the_holder_learns",
        "avalon",
        AVALON,
    ),
    "whom the Lady examines is secret": Mistake(
        "lady.rules",
        "examined: Player public",
        "examined: Player secret",
        "everybody_sees_who_is_examined",
        "avalon",
        AVALON,
    ),
    "who is named is secret": Mistake(
        "avalon.rules",
        "victim: Player public",
        "victim: Player secret",
        "everybody_sees_who_is_named",
        "avalon",
        AVALON,
    ),
    "everybody sees Percival": Mistake(
        "percival.rules",
        "to p in Player where role[p].seeks_magic:\n      { q in Player | role[q].magic }",
        "to p in Player:\n      { q in Player | role[q].seeks_magic }",
        "percival_is_secret",
        "avalon",
        AVALON,
        {"players": 6},
    ),
    "Merlin sees all evil but the Assassin": Mistake(
        "avalon.rules",
        "{ q in Player | raises_thumb(q) }",
        "{ q in Player | raises_thumb(q) and role[q] != assassin }",
        "merlin_cannot_place_the_assassin",
        "avalon",
        AVALON,
    ),
    "an evil player with eyes open sees Oberon": Mistake(
        "oberon.rules", "oberon(evil, eyes = false", "oberon(evil", "eyes_open_as_written", "avalon", AVALON
    ),
    # what is chosen, and by whom
    "a team is voted on again": Mistake(
        "core.rules",
        "leader := left(leader)                                                   cite CORE-18\n    next propose",
        "leader := left(leader)                                                   cite CORE-18\n    next vote",
        "votes_are_cast_at_once",
    ),
    "cards are played again": Mistake(
        "core.rules",
        "    next aftermath\n",
        "    if fails > 1 { next cards }\n    next aftermath\n",
        "cards_are_played_at_once",
    ),
    "the leader does not vote": Mistake(
        "core.rules",
        "each p in Player chooses approve",
        "each p in Player where p != leader chooses approve",
        "everybody_may_approve",
    ),
    "the leader approves his own team": Mistake(
        "core.rules",
        "when not unvoted           cite CORE-15, CORE-06",
        'when not unvoted require p == leader implies approve "approve"',
        "the_leader_may_vote_against_his_team",
    ),
    "the leader goes along": Mistake(
        "core.rules",
        "require size(team)",
        'require leader in team "the leader goes along"\n      require size(team)',
        "the_leader_may_stay_behind",
    ),
    "the leader stays behind": Mistake(
        "core.rules",
        "require size(team)",
        'require not leader in team "the leader stays behind"\n      require size(team)',
        "the_leader_may_go_along",
    ),
    "the last leader plays no card": Mistake(
        "core.rules",
        "each p in team chooses card",
        "each p in team where p != leader chooses card",
        "every_member_plays_a_card",
    ),
    "the leader stays after a quest": Mistake(
        "core.rules",
        "leader := left(leader)                                                   cite CORE-27",
        "leader := leader",
        "the_first_seats_have_led",
    ),
    "the leader goes back to the first after three": Mistake(
        "core.rules",
        "leader := left(leader)                                                   cite CORE-27",
        "leader := right(leader)",
        "nobody_leads_again_too_early",
    ),
    # the count of rejections
    "the fifth team is never voted on": Mistake(
        "core.rules", "fifth_team == no_vote and rejections == 4", "rejections == 4", "every_team_is_voted_on"
    ),
    "the fifth team is always voted on": Mistake(
        "core.rules", "fifth_team == no_vote and rejections == 4", "false", "the_fifth_team_goes"
    ),
    "rejections are always forgotten": Mistake(
        "core.rules", "if vote_track == reset { rejections := 0 }", "rejections := 0", "rejections_add_up"
    ),
    "rejections are never forgotten": Mistake(
        "core.rules",
        "if vote_track == reset { rejections := 0 }",
        "if false { rejections := 0 }",
        "rejections_of_the_round",
    ),
    # tables and marks
    "team size of the fourth quest at six": Mistake(
        "core.rules", "6: 2 3 4 3 4", "6: 2 3 4 4 4", "teams_as_printed", fixed={"players": 6}
    ),
    "five good of nine": Mistake(
        "core.rules",
        "8: 5  9: 6  10: 6 }          cite CORE-02\n  table evil_count[players] { 5: 2  6: 2  7: 3  8: 3  9: 3 ",
        "8: 5  9: 5  10: 6 }          cite CORE-02\n  table evil_count[players] { 5: 2  6: 2  7: 3  8: 3  9: 4 ",
        "sides_as_printed",
        fixed={"players": 9},
    ),
    "two fails at six": Mistake(
        "core.rules",
        "if players >= 7 and fourth",
        "if players >= 6 and fourth",
        "one_fail_for_the_others",
        fixed={"players": 6},
    ),
    "two fails for the third": Mistake(
        "core.rules",
        "then quest == 4 else",
        "then quest == 4 or quest == 3 else",
        "one_fail_for_the_others",
        fixed={"players": 7},
    ),
    "a lost quest is marked as won": Mistake(
        "core.rules", "mark[quest] := lost", "mark[quest] := won", "the_mark_tells_the_outcome"
    ),
    "the score goes on the next quest": Mistake(
        "core.rules", "mark[quest] := won ", "mark[min(quest + 1, 5)] := won ", "the_mark_tells_the_outcome"
    ),
    # the quest chosen
    "the fifth quest always has a gate": Mistake(
        "targeting.rules",
        "def gated = fifth_gate == two_successes",
        "def gated = true",
        "the_fifth_quest_can_come_first",
        modules=("targeting",),
    ),
    "no quest is ever attempted again": Mistake(
        "targeting.rules",
        "require repeat_quest == again or mark[target] == open",
        "require mark[target] == open",
        "a_quest_can_be_attempted_again",
        modules=("targeting",),
    ),
    "from a chosen start the fifth quest is not the first": Mistake(
        "avalon_2021.rules",
        "override def gated = base and quest_order == free",
        "override def gated = true",
        "the_fifth_quest_may_start",
        "avalon_2021",
        ("mordred", "morgana", "oberon", "percival"),
    ),
    # the Lady
    "the Lady is not used after the fourth quest": Mistake(
        "lady.rules",
        "just_resolved <= 4",
        "just_resolved <= 3",
        "five_quests_mean_three_uses",
        "avalon",
        ("lady",),
    ),
    "the Lady is not used after the second quest": Mistake(
        "lady.rules",
        "just_resolved >= 2",
        "just_resolved >= 3",
        "five_quests_mean_three_uses",
        "avalon",
        ("lady",),
    ),
    "the Lady minds the order where the table said the space": Mistake(
        "lady.rules",
        "if lady_after == by_order then resolved else last_quest",
        "resolved",
        "she_may_follow_the_fourth_space",
        "avalon",
        ("lady", "targeting"),
    ),
    "the Lady is never used once the quests are decided": Mistake(
        "lady.rules",
        "(lady_at_end == used_first or successes < 3 and failures < 3)",
        "successes < 3 and failures < 3",
        "she_may_be_used_after_the_last_quest",
        "avalon",
        ("lady",),
    ),
    "the Lady goes round": Mistake(
        "lady.rules",
        "holder := examined ",
        "holder := left(holder) ",
        "whoever_is_examined_holds_her_next",
        "avalon",
        ("lady",),
    ),
    "a wrong card has a winner under every ruling": Mistake(
        "lady.rules", "else { draw }", "else { win evil }", "a_wrong_card_without_winner", "avalon", ("lady",)
    ),
    # the deck and the reveal
    "two Merlins": Mistake(
        "core.rules",
        "setup error unless all(r in Role | r.plain or deck[r] <= 1)",
        "setup warning unless all(r in Role | r.plain or deck[r] <= 1)",
        "special_cards_are_single",
        "avalon",
    ),
    "nobody to name Merlin": Mistake(
        "avalon.rules",
        "setup error unless deck[merlin] == 0 or deck[killer] >= 1 or",
        "setup warning unless deck[merlin] == 0 or deck[killer] >= 1 or",
        "merlin_has_a_killer",
        "avalon",
        AVALON,
    ),
    "Morgana keeps her eyes shut": Mistake(
        "morgana.rules",
        "morgana(evil, magic = true",
        "morgana(evil, eyes = false, magic = true",
        "eyes_open_as_written",
        "avalon",
        AVALON,
    ),
    "Oberon never hides from Merlin": Mistake(
        "oberon.rules",
        "thumb = oberon_thumb == raised",
        "thumb = true",
        "thumbs_as_written",
        "avalon",
        AVALON,
    ),
    "both of Mordred and Morgana where one was agreed on": Mistake(
        "percival.rules",
        "then strong == 1 else",
        "then strong >= 1 else",
        "percival_needs_strong_evil_at_five",
        "avalon",
        AVALON,
    ),
    "Percival needs strong evil at six": Mistake(
        "percival.rules",
        "def five_fits = players > 5",
        "def five_fits = players > 6",
        "percival_alone_at_six",
        "avalon",
        AVALON,
        {"players": 6},
    ),
    # the end
    "three successes are enough in Avalon": Mistake(
        "avalon.rules",
        "phase naming before triumph when deck[merlin] > 0 or",
        "phase naming before triumph when deck[merlin] > 1 or",
        "naming_before_the_end",
        "avalon",
        AVALON,
    ),
    "whoever is missed loses for good": Mistake(
        "avalon.rules",
        "if role[victim] == merlin { win evil } else { win good }",
        "if role[victim] == merlin or side(victim) == evil { win evil } else { win good }",
        "evil_wins_for_a_reason",
        "avalon",
        AVALON,
    ),
    "evil fellows lose a game of three failures": Mistake(
        "core.rules",
        "if failures == 3 { win evil } ",
        "if failures == 3 { win good } ",
        "good_wins_for_a_reason",
        "avalon",
        AVALON,
    ),
    "no naming without Merlin under any ruling": Mistake(
        "avalon.rules",
        "when deck[merlin] > 0 or merlin_in_play == optional_naming",
        "when deck[merlin] > 0",
        "naming_without_merlin",
        "avalon",
        AVALON,
    ),
    "a naming without Merlin under every ruling": Mistake(
        "avalon.rules",
        "when deck[merlin] > 0 or merlin_in_play == optional_naming",
        "when true",
        "no_naming_without_merlin",
        "avalon",
        AVALON,
    ),
}


@cache
def original() -> Shelf:
    return shipped()


@cache
def claims() -> tuple[s.Rulebook, ...]:
    return tuple(parse(path.read_text(encoding="utf-8"), path.name) for path in property_files())


def family(mistake: Mistake, books: Mapping[str, s.Rulebook]) -> Family:
    """The game of a mistake with the module of claims that states the property."""
    stating = next(
        module.name
        for book in claims()
        for module in book.modules
        if any(isinstance(item, s.PropertyDecl) and item.name == mistake.claim for item in module.items)
    )
    lib = library((*books.values(), *claims()))
    made = families(lib, (mistake.game,), (stating,), modules=mistake.modules, fixed=mistake.fixed)
    return next(f for f in made if mistake.claim in f.properties)


def verdict(mistake: Mistake, books: Mapping[str, s.Rulebook]) -> Verdict:
    model = family(mistake, books).model
    alone = replace(model, properties={mistake.claim: model.properties[mistake.claim]})
    (found,) = prove(alone, mistake.game, Options(games=20))
    return found


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_rules_changes_the_verdict_of_a_shipped_property(name: str) -> None:
    mistake, books = MISTAKES[name], original().books
    text = original().texts[mistake.file]
    assert text.count(mistake.old) == 1, "the rulebook no longer reads so"
    wrong = parse(text.replace(mistake.old, mistake.new), mistake.file)
    found = verdict(mistake, {**books, mistake.file: wrong})
    assert found.outcome not in (found.claim.expect, BOUNDED, UNKNOWN), found
    if rests_on_a_game(found.claim):  # the game may be one at a table that is left out here
        right = verdict(mistake, books)
        assert right.outcome == right.claim.expect, right


def rests_on_a_game(claim: Property) -> bool:
    """Does the verdict expected need a game that shows it? What holds of all tables holds of these."""
    return (claim.kind == "reachable") == (claim.expect == PROVED)


# --- every entry of every table ---


def entries() -> Iterator[Mutant]:
    return (x for x in all_mutants(original()) if x.kind == "table entry")


def stated(book: s.Rulebook, players: int) -> bool:
    """Do the claims about the tables hold of a game at a table of so many players?"""
    books = {**original().books, "core.rules": book}
    model = family(Mistake("core.rules", "", "", "teams_as_printed", fixed={}), books).model
    table = settle(model, {"players": players})
    env = Environment(table.model, players, table.params)
    wanted = (model.properties[name].value for name in ("teams_as_printed", "sides_as_printed"))
    return all(value is not None and holds(value, env) for value in wanted)


def test_every_entry_of_a_table_is_stated_once_more() -> None:
    shelf = original()
    assert all(stated(shelf.books["core.rules"], n) for n in range(5, 11))
    tried = list(entries())
    assert len(tried) == 84
    for x in tried:
        assert x.file == "core.rules"
        book = mutated(shelf.texts[x.file], shelf.books[x.file], x)
        try:
            noticed = not all(stated(book, n) for n in range(5, 11))
        except RulebookError:  # more or fewer cards than players: the checker says so already
            noticed = "_count" in shelf.texts[x.file].splitlines()[x.line - 1]
        assert noticed, str(x)
