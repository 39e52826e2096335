"""Assumptions about play: each shipped one against a second statement of it that tries everything hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from avalon_logic.configuration import Configuration
from avalon_logic.deduction import deduce
from avalon_logic.deduction.setting import CARDS, Setting, declared_assumptions, lay
from rules_dsl import UnknownName
from rules_dsl.arrays.answers import Worlds, count, likelihoods, matrix, shares, worlds
from rules_dsl.arrays.follow import SAID, clumps, follow, follow_from
from rules_dsl.play import Observation
from tests.oracle import brute_assumptions as brute
from tests.oracle.brute_assumptions import HARD, WEIGHTED, Attempt, Likelihood, Scene
from tests.oracle.brute_worlds import EVIL, TEAM_SIZE, World, sights

FIVE = {"Merlin": 1, "Servant": 2, "Assassin": 1, "Minion": 1}
DECKS = [
    FIVE,
    {"Merlin": 1, "Percival": 1, "Servant": 1, "Assassin": 1, "Mordred": 1},
    {"Merlin": 1, "Servant": 3, "Assassin": 1, "Oberon": 1},
    {"Merlin": 1, "Percival": 1, "Servant": 2, "Assassin": 1, "Morgana": 1},
    {"Merlin": 1, "Servant": 3, "Assassin": 1, "Minion": 2},
]


def random_game(rng: Random, deck: dict[str, int], assumed: Sequence[str]) -> tuple[World, list[Attempt]]:
    """A game in which nobody does what the assumptions exclude; some of it was not noted."""
    pile = [role for role, n in deck.items() for _ in range(n)]
    rng.shuffle(pile)
    world: World = tuple(pile)
    players = len(world)
    made: list[Attempt] = []
    leader, won, lost = rng.randrange(players), 0, 0
    for _ in range(rng.randint(1, 6)):
        quest = won + lost + 1
        blank = Attempt(leader, None, {}, True, resolved=won + lost, quest=quest)
        teams = [frozenset(rng.sample(range(players), TEAM_SIZE[players][quest - 1])) for _ in range(30)]
        fitting = (t for t in teams if _fine(brute.TEAMS, assumed, Scene(world, blank, t), leader, t))
        scene = Scene(world, blank, next(fitting, teams[0]))
        votes = {p: _drawn(rng, [True, True, False], brute.VOTES, assumed, scene, p) for p in range(players)}
        approved = 2 * sum(map(bool, votes.values())) > players
        cards = {
            p: _drawn(
                rng, ["success", "fail"] if scene.evil(p) else ["success"], brute.CARDS, assumed, scene, p
            )
            for p in sorted(scene.team)
            if approved
        }
        fails = list(cards.values()).count("fail") if approved else None
        unnoted = approved and rng.random() < 0.2
        made.append(
            replace(
                blank,
                team=None if unnoted else scene.team,
                votes={p: bool(v) for p, v in votes.items() if not approved or rng.random() < 0.7},
                approved=approved,
                fails=fails,
                cards={p: str(c) for p, c in cards.items() if not unnoted},
                claims=tuple(
                    (rng.randrange(players), rng.randrange(players), rng.choice(["good", "evil"]))
                    for _ in range(rng.choice([0, 0, 1]))
                ),
            )
        )
        leader = (leader + 1) % players
        if fails is not None:
            failed = fails >= (2 if players >= brute.NEED_TWO_FROM and quest == 4 else 1)
            lost, won = lost + failed, won + (not failed)
        if 3 in (won, lost) or _rejected(made) == 5:
            break
    if won == 3:
        by = world.index("Assassin")
        victims = [s for s in range(players) if brute.naming_fits(world, (by, s), assumed)]
        victim = rng.choice(victims)
        result = "evil" if world[victim] == "Merlin" else "good"
        made[-1] = replace(made[-1], named=(by, victim), result=result)
    elif lost == 3 or _rejected(made) == 5:
        made[-1] = replace(made[-1], result="evil", claims=())
    return world, made


def _rejected(attempts: Sequence[Attempt]) -> int:
    """How many of the last attempts were voted down in a row."""
    return next((i for i, a in enumerate(reversed(attempts)) if a.approved), len(attempts))


def _fine(
    table: dict[str, Likelihood], assumed: Sequence[str], scene: Scene, who: int, value: object
) -> bool:
    return all(table[a](scene, who, value) > 0 for a in assumed if a in table)


def _drawn(
    rng: Random,
    options: Sequence[object],
    table: dict[str, Likelihood],
    assumed: Sequence[str],
    scene: Scene,
    who: int,
) -> object:
    shuffled = rng.sample(list(options), len(options))
    return next((o for o in shuffled if _fine(table, assumed, scene, who, o)), shuffled[0])


def observations(world: World, attempts: Sequence[Attempt], viewer: int | None) -> list[Observation]:
    """The game as it went, with everything the viewer saw at the start."""
    made = [Observation("deal", "choice", CARDS, viewer, world[viewer].lower())] if viewer is not None else []
    made.append(Observation("first_leader", "choice", "leader", None, attempts[0].leader))
    if viewer is not None:
        seen = sights(world, viewer + 1, {})
        name = {"Merlin": "thumbs", "Percival": "magicians"}.get(world[viewer], "fellows")
        shown = frozenset(s - 1 for s in seen["evil"] | seen["percival"])
        if name != "fellows" or world[viewer] in EVIL - {"Oberon"}:
            made.append(Observation("reveal", "shown", name, viewer, shown))
    for a in attempts:
        if a.team is None:
            made.append(Observation("propose", "unknown", "team", None, None))
        else:
            made.append(Observation("propose", "choice", "team", a.leader, a.team))
        made += [Observation("vote", "choice", "approve", p, v) for p, v in sorted(a.votes.items())]
        if not a.votes:
            made.append(Observation("vote", "unknown", "approve", None, None))
        made += [Observation("cards", "choice", "card", p, c) for p, c in sorted(a.cards.items())]
        if a.fails is not None:
            made.append(Observation("tally", "published", "fails", None, a.fails))
        made += [Observation("", SAID, "says", None, claim) for claim in a.claims]
        if a.named is not None:
            made.append(Observation("naming", "choice", "victim", *a.named))
        if a.result is not None:
            made.append(Observation("", "result", "result", None, a.result))
    return made


def deduced(setting: Setting, seen: Sequence[Observation], viewer: int | None) -> Worlds:
    follower = follow_from(setting.machine, viewer)
    for clump in clumps(seen):
        follower = follow(follower, clump)
    return worlds(follower.current(), CARDS)


def setting_of(deck: dict[str, int], assumed: Sequence[str]) -> Setting:
    cards = tuple(role.lower() for role, n in deck.items() for _ in range(n))
    return lay(
        Configuration("avalon", len(cards), roles=cards), [f"P{i}" for i in range(len(cards))], assumed
    )


def compare(rng: Random, deck: dict[str, int], assumed: Sequence[str]) -> None:
    world, attempts = random_game(rng, deck, assumed)
    viewer = rng.choice([None, *range(len(world))])
    if viewer is None or any(a.team is None for a in attempts):
        # an observer sees no card; and without the team nobody says whose card it was
        attempts, viewer = [replace(a, cards={}) for a in attempts], None
    setting = setting_of(deck, assumed)
    found = deduced(setting, observations(world, attempts, viewer), viewer)
    own = [replace(a, cards={s: c for s, c in a.cards.items() if s == viewer}) for a in attempts]
    expected = brute.posterior(len(world), deck, own, assumed)
    if viewer is not None:
        seen = sights(world, viewer + 1, {})
        expected = {
            w: p
            for w, p in expected.items()
            if w[viewer] == world[viewer] and sights(w, viewer + 1, {}) == seen
        }
    total = sum(expected.values())
    assert count(found) == len(expected), (deck, assumed, attempts, viewer)
    if not expected:
        return
    names = [r.capitalize() for r in setting.roles]
    got = {
        tuple(names[v] for v in row): p
        for row, p in zip(matrix(found).tolist(), likelihoods(found).tolist(), strict=True)
    }
    assert got.keys() == expected.keys()
    for w, p in expected.items():
        assert got[w] == pytest.approx(p / total, abs=1e-9), (deck, assumed, attempts, viewer, w)
    for seat, entry in enumerate(shares(found)):
        for role, share in entry.items():
            mass = sum(p for w, p in expected.items() if w[seat] == names[role]) / total
            assert float(share) == pytest.approx(mass, abs=1e-9)


@pytest.mark.parametrize("name", sorted(HARD | WEIGHTED))
def test_each_assumption_means_what_its_second_statement_says(name: str) -> None:
    rng = Random(f"assumption {name}")
    for _ in range(25):
        compare(rng, rng.choice(DECKS), (name,))


@pytest.mark.parametrize("seed", range(4))
def test_several_assumptions_hold_together(seed: int) -> None:
    rng = Random(f"assumptions {seed}")
    for _ in range(25):
        names = rng.sample(sorted(HARD | WEIGHTED), rng.randint(2, 4))
        compare(rng, rng.choice(DECKS), tuple(names))


@pytest.mark.parametrize("seed", range(3))
def test_a_vote_not_noted_at_the_end_leaves_both_ways_open(seed: int) -> None:
    rng = Random(f"open end {seed}")
    compared = 0
    while compared < 20:
        names = tuple(rng.sample(sorted(HARD | WEIGHTED), rng.randint(1, 3)))
        deck = rng.choice(DECKS)
        world, attempts = random_game(rng, deck, names)
        if attempts[-1].result is not None or any(a.team is None for a in attempts):
            continue
        last = replace(attempts[-1], votes={}, approved=None, fails=None, cards={}, claims=())
        game = [*(replace(a, cards={}) for a in attempts[:-1]), last]
        expected = brute.posterior(len(world), deck, game, names)
        found = deduced(setting_of(deck, names), observations(world, game, None), None)
        assert count(found) == len(expected), (deck, names, game)
        roles = [r.capitalize() for r in setting_of(deck, names).roles]
        for row, p in zip(matrix(found).tolist(), likelihoods(found).tolist(), strict=True):
            assert p == pytest.approx(expected[tuple(roles[v] for v in row)], abs=1e-9), (deck, names, game)
        compared += 1


def test_every_shipped_assumption_has_a_second_statement_and_one_sentence() -> None:
    declared = declared_assumptions("avalon")
    assert set(declared) == HARD | WEIGHTED
    assert len(HARD) >= 8
    for text, _ in declared.values():
        assert text and not text.endswith(".") and ". " not in text


def test_no_assumption_is_in_force_unless_named() -> None:
    rng = Random("none")
    for _ in range(10):
        compare(rng, rng.choice(DECKS), ())
    assert setting_of(FIVE, ()).assumptions == ()


def test_an_unknown_assumption_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match="evil_always_fails"):
        setting_of(FIVE, ("evil_always_sings",))


def test_a_user_adds_an_assumption_in_a_file(tmp_path: Path) -> None:
    own = tmp_path / "mine.rules"
    own.write_text(
        "module mine for avalon {\n"
        '  assume dan_is_honest "seat 3 plays no fail" for card by p {\n'
        "    require p == right(right(leader)) implies card == success\n"
        "  }\n"
        "}\n"
    )
    table = Configuration("avalon", 5, paths=(own,))
    setting = lay(table, ["A", "B", "C", "D", "E"], ["dan_is_honest"])
    attempt = Attempt(0, frozenset({3, 4}), dict.fromkeys(range(5), True), True, 1)
    found = deduced(setting, observations(("",) * 5, [attempt], None), None)
    assert shares(found)[4].keys() <= {2, 3}  # E is evil: D, two to the right of the leader, played success


def test_listed_deals_say_how_likely_they_are_and_the_likeliest_comes_first() -> None:
    text = "players Ann Bob Cid Dan Eve\nsays Ann Bob evil\nfirst_leader Ann"
    found = deduce(text, assume=["good_mostly_truthful"])
    likely = found.probabilities()
    assert likely == sorted(likely, reverse=True) and sum(likely) == pytest.approx(1)
    first = found.worlds(1)[0]
    assert first["Ann"] in ("merlin", "servant") and first["Bob"] in ("assassin", "minion")
    # Ann good and truthful 0.9 in 18 deals, good and wrong 0.1 in 18, evil 0.5 in 24
    assert likely[0] == pytest.approx(0.9 / (0.9 * 18 + 0.1 * 18 + 0.5 * 24))
    assert found.to_json(2)["probabilities"] == pytest.approx(likely[:2])
    assert "probabilities" not in deduce(text).to_json(2)


def test_a_long_record_of_claims_does_not_make_worlds_vanish() -> None:
    setting = setting_of(FIVE, ("good_mostly_truthful",))
    attempt = Attempt(
        0, frozenset({0, 1}), dict.fromkeys(range(5), True), True, 0, claims=((0, 1, "good"),) * 3000
    )
    found = deduced(setting, observations(("",) * 5, [attempt], None), None)
    assert count(found) == 60
    assert sum(likelihoods(found)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "assumed",
    [("evil_votes_for_evil",), ("evil_usually_fails",), ("evil_usually_fails", "evil_votes_for_evil")],
)
def test_what_nobody_saw_makes_no_deal_likelier(assumed: tuple[str, ...]) -> None:
    seen = [Observation("first_leader", "choice", "leader", None, 0)]
    seen.append(Observation("propose", "choice", "team", 0, frozenset({0, 1})))
    for _ in range(2):  # too few quests for the game to be over, whatever happened
        seen.append(Observation("vote", "unknown", "approve", None, None))
        seen.append(Observation("propose", "unknown", "team", None, None))
    found = deduced(setting_of(FIVE, assumed), seen, None)
    assert likelihoods(found).tolist() == pytest.approx([1 / 60] * 60)
