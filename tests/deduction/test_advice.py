"""Advice against sums over all deals and all cards, written out; and what the command says."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations, product
from math import log2
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.deduction import deduce
from avalon_logic.deduction.advice import (
    advise_naming,
    advise_teams,
    awaits_naming,
    holds_killer,
    open_quests,
)
from avalon_logic.records import RecordError
from tests.oracle.brute_worlds import EVIL, TEAM_SIZE, deals

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus")
FIVE = "players Ann Bob Cid Dan Eve\nfirst_leader Ann\npropose Ann Bob\nvote + + + - -\ntally 1\n"
SEVEN = (
    "players Ann Bob Cid Dan Eve Fay Gus\nfirst_leader Ann\n"
    "propose Ann Bob\nvote ?\ntally 1\npropose Ann Cid Dan\nvote ?\ntally 0\npropose Bob Eve Fay\nvote ?\ntally 2\n"
)


def entropy(chances: list[float]) -> float:
    return -sum(p * log2(p) for p in chances if p > 0)


@pytest.mark.parametrize(
    ("text", "players", "deck", "quests", "number", "needed"),
    [
        (FIVE, 5, {"Merlin": 1, "Servant": 2, "Assassin": 1, "Minion": 1}, [((0, 1), 1)], 2, 1),
        (
            SEVEN,
            7,
            {"Merlin": 1, "Servant": 3, "Assassin": 1, "Minion": 2},
            [((0, 1), 1), ((0, 2, 3), 0), ((1, 4, 5), 2)],
            4,
            2,
        ),
    ],
)
@pytest.mark.parametrize(("assumed", "fails"), [((), 0.5), (("evil_always_fails",), 1.0)])
def test_teams_are_ranked_by_sums_over_all_deals_and_cards(
    text: str,
    players: int,
    deck: dict[str, int],
    quests: list[tuple[tuple[int, ...], int]],
    number: int,
    needed: int,
    assumed: tuple[str, ...],
    fails: float,
) -> None:
    def fits(world: tuple[str, ...]) -> bool:
        aboard = [sum(world[s] in EVIL for s in team) for team, _ in quests]
        seen = [n for _, n in quests]
        return aboard == seen if assumed else all(a >= n for a, n in zip(aboard, seen, strict=True))

    worlds = [w for w in deals(deck, players) if fits(w)]
    advice = advise_teams(deduce(text, assume=assumed))
    assert advice.quest == number
    assert {a.name for a in advice.cards} == {"evil_fails_half_the_time", *assumed}
    found = {t.members: t for t in advice.teams}
    for team in combinations(range(players), TEAM_SIZE[players][number - 1]):
        results = []
        for world in worlds:
            chances = [0.0] * (len(team) + 1)
            for cards in product((0, 1), repeat=len(team)):
                likely = 1.0
                for seat, fail in zip(team, cards, strict=True):
                    p = fails if world[seat] in EVIL else 0.0
                    likely *= p if fail else 1 - p
                chances[sum(cards)] += likely
            results.append(chances)
        mean = [sum(r[k] for r in results) / len(results) for k in range(len(team) + 1)]
        tells = entropy(mean) - sum(entropy(r) for r in results) / len(results)
        clean = sum(all(w[s] not in EVIL for s in team) for w in worlds)
        mine = found[tuple(NAMES[s] for s in team)]
        assert mine.clean == Fraction(clean, len(worlds))
        assert mine.succeeds == pytest.approx(sum(mean[:needed]), abs=1e-12)
        assert mine.information == pytest.approx(tells, abs=1e-9)
    ranks = [(-t.clean, -round(t.information or 0, 9)) for t in advice.teams]
    assert ranks == sorted(ranks)


def test_weighted_assumptions_change_the_chances_and_are_named() -> None:
    plain = advise_teams(deduce(SEVEN))
    weighed = advise_teams(deduce(SEVEN, assume=["evil_usually_fails"]))
    assert [a.name for a in weighed.cards] == ["evil_usually_fails"]
    assert {t.members: float(t.clean) for t in plain.teams} != {
        t.members: float(t.clean) for t in weighed.teams
    }


def test_under_targeting_a_team_is_advised_for_any_open_quest() -> None:
    text = "with targeting\n" + FIVE.replace("propose Ann", "propose 3 Ann")
    result = deduce(text)
    assert open_quests(result) == (1, 2, 4)  # the fifth needs two successes
    assert {len(t.members) for t in advise_teams(result, 4).teams} == {3}
    with pytest.raises(RecordError, match="quest 5 is not open"):
        advise_teams(result, 5)


def test_the_assassin_looks_for_merlin_where_votes_point() -> None:
    text = (
        "players Ann Bob Cid Dan Eve\nfirst_leader Ann\n"
        "propose Ann Dan\nvote + - + + +\ntally 0\n"
        "propose Ann Bob Dan\nvote + - + + +\ntally 0\n"
    )
    seen = deduce(text, seat="Eve", role="assassin", saw=["Dan"])
    assert holds_killer(seen) and not awaits_naming(seen)
    assert [share for _, share in advise_naming(seen).seats] == [Fraction(1, 3)] * 3
    weighed = deduce(text, seat="Eve", role="assassin", saw=["Dan"], assume=["merlin_avoids_seen_evil"])
    (name, share), *rest = advise_naming(weighed).seats
    # Merlin rejects twice in 0.8 x 0.8, approves twice in 0.2 x 0.2; the others in a half each time
    assert name == "Bob"
    assert share == pytest.approx(0.64 / (0.64 + 2 * 0.04))
    assert rest[0][1] == pytest.approx(0.04 / 0.72)


def test_the_command_ranks_teams_or_seats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "game.txt"
    record.write_text(FIVE)
    assert main(["advise", str(record), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["quest"] == 2 and len(found["teams"]) == 10 and found["assumptions"] == []
    assert found["cards"][0]["name"] == "evil_fails_half_the_time"
    assert main(["advise", str(record), "--as", "Eve", "--role", "assassin", "--saw", "Ann"]) == 0
    shown = capsys.readouterr().out
    assert "Teams for quest 2, as Eve can know" in shown
    assert "Who may be Merlin, as Eve can know" in shown
    assert "assumptions: none" in shown
    assert main(["advise", str(record), "--quest", "4"]) == 2
    assert "quest 4 is not open; open: 2" in capsys.readouterr().err
    record.write_text(FIVE.replace("tally 1", "tally 0"))
    assert main(["advise", str(record), "--as", "Ann", "--role", "minion", "--saw", "Ann"]) == 1


def test_assumptions_are_listed_hard_and_weighted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assumptions", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {a["kind"] for a in found} == {"require", "weight"}
    assert main(["assumptions", "--game", "resistance"]) == 0
    shown = capsys.readouterr().out
    assert "evil_always_fails" in shown and "merlin" not in shown
    assert main(["assumptions", "--game", "chess"]) == 2
