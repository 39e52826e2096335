"""A seat's answer rests on what that seat can have seen, and on nothing else the record happens to say."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import pytest

from avalon_logic.deduction import deduce
from avalon_logic.records import RecordError
from tests.oracle.brute_records import sights, table_of
from tests.oracle.random_records import random_record

Json = dict[str, Any]

TEXT = """players Ann Bob Cid Dan Eve
roles merlin percival servant assassin morgana
first_leader Ann
propose Ann Bob
vote + + + - -
tally 1
"""


def _summary(record: Json, viewer: str | None) -> tuple[int, list[tuple[int, int]], list[Any]]:
    found = deduce(record, viewer)
    told = [(t.before, t.after) for t in found.steps]
    return found.count, told, sorted(tuple(w.values()) for w in found.worlds(50))


def _with_secrets_of_others_changed(rng: random.Random, record: Json, viewer: str | None) -> Json:
    """The record with cards, answers and sights of everybody but the viewer made up anew."""
    changed: Json = deepcopy(record)
    holder: str | None = None
    for event in changed["events"]:
        match event["phase"]:
            case "cards":
                for name in event["card"]:
                    if name != viewer:
                        event["card"][name] = rng.choice(("success", "fail"))
            case "reveal":
                for name in event["saw"]:
                    if name != viewer:
                        event["saw"][name] = rng.sample(changed["players"], 2)
            case "lady":
                holder = event.get("by")
                if holder is not None and holder != viewer and "loyalty" in event:
                    event["loyalty"] = rng.choice(("good", "evil"))
    for name in changed["players"]:
        if name != viewer and rng.random() < 0.5 and len(changed["deal"]) < len(changed["players"]) - 1:
            changed["deal"][name] = rng.choice(changed["roles"])
    return changed


@pytest.mark.parametrize("seed", range(4))
def test_what_others_hold_play_see_and_are_answered_never_matters(seed: int) -> None:
    rng = random.Random(f"secrets {seed}")
    changes = 0
    for _ in range(60):
        record, viewer, _ = random_record(rng, (5, 6, 7), 900)
        changed = _with_secrets_of_others_changed(rng, record, viewer)
        changes += changed != record
        assert _summary(record, viewer) == _summary(changed, viewer), (record, changed, viewer)
    assert changes > 30


@pytest.mark.parametrize("seed", range(2))
def test_with_the_whole_deal_written_down_a_seat_knows_what_it_saw_and_was_answered(seed: int) -> None:
    rng = random.Random(f"whole deals {seed}")
    for _ in range(40):
        record, viewer, deal = random_record(rng, (5, 6, 7), 900, spoiled=0)
        if viewer is None:
            continue
        table = table_of(record)
        silent, told = deepcopy(record), deepcopy(record)
        silent["deal"] = dict(zip(table.names, deal, strict=True))
        silent["events"] = [e for e in silent["events"] if e["phase"] != "reveal"]
        saw = [table.names[s] for s in sorted(sights(table, deal, table.names.index(viewer)))]
        for event in told["events"]:
            if event["phase"] == "reveal":
                event["saw"][viewer] = saw
            if event["phase"] == "lady":
                evil = deal[table.names.index(event["examined"])] in (
                    "minion",
                    "assassin",
                    "morgana",
                    "mordred",
                    "oberon",
                )
                event["loyalty"] = "evil" if evil else "good"
        assert _summary(silent, viewer)[::2] == _summary(told, viewer)[::2], (record, viewer)


def test_seeing_nobody_is_information() -> None:
    deck = TEXT.replace("percival servant assassin morgana", "servant servant assassin oberon")
    unknown = deduce(deck, "Ann", role="assassin")
    nobody = deduce(deck, "Ann", role="assassin", saw=[])
    assert nobody.count <= unknown.count
    plain = TEXT.replace("percival servant assassin morgana", "servant servant assassin minion")
    assert deduce(plain, "Ann", role="assassin").count == 12
    assert deduce(plain, "Ann", role="assassin", saw=[]).count == 0


def test_a_seat_that_does_not_say_what_it_saw_is_told_so() -> None:
    assert any("saw at the reveal" in note for note in deduce(TEXT, "Ann", role="merlin").notes)
    assert not deduce(TEXT, "Ann", role="servant").notes
    assert not deduce(TEXT, "Ann", role="merlin", saw=["Bob", "Cid"]).notes


def test_what_was_seen_can_be_said_by_option_or_in_the_record() -> None:
    by_option = deduce(TEXT, "Ann", role="percival", saw=["Bob", "Cid"])
    line = "deal Ann=percival\n" + TEXT.replace("propose", "reveal Ann=Bob+Cid\npropose")
    named = line.replace("reveal Ann", "reveal magicians Ann")
    assert by_option.count == deduce(line, "Ann").count == deduce(named, "Ann").count == 2
    wrong_kind = line.replace("reveal Ann", "reveal thumbs Ann")
    assert deduce(wrong_kind, "Ann").count == 0


def test_the_own_card_counts_and_a_card_of_another_seat_does_not() -> None:
    played = TEXT.replace("tally", "cards Ann=success Bob=fail\ntally")
    assert deduce(played).count == deduce(TEXT).count
    as_ann = deduce(played, "Ann", role="morgana", saw=["Dan"])
    assert as_ann.count == 0  # a fail that is neither hers nor Dan's
    as_cid = deduce(played, "Cid", role="servant")
    assert as_cid.count == deduce(TEXT, "Cid", role="servant").count


def _log(cards: dict[str, bool]) -> Json:
    """A site's log with everybody's role and card: the assassin and Oberon, who do not know each other, on a quest."""
    names = ["p1", "p2", "p3", "p4", "p5"]
    roles = dict(zip(names, ("assassin", "merlin", "oberon", "servant", "servant"), strict=True))
    team = {"quest": 1, "team": ["p1", "p3"]}
    votes = {"votes": dict.fromkeys(names, True), "approved": True}
    return {
        "id": "l1",
        "players": names,
        "roles": roles,
        "modules": [],
        "events": [
            {"t": "propose", "attempt": 1, "leader": "p1", **team, **votes},
            {"t": "quest", "fails": 1, "success": False, "cards": cards, **team},
        ],
    }


def test_in_a_log_with_all_roles_and_cards_a_seat_knows_its_own_card_and_no_other() -> None:
    oberon_failed, assassin_failed = _log({"p1": True, "p3": False}), _log({"p1": False, "p3": True})
    assert deduce(oberon_failed, "p1").player("p3").roles == {"oberon": 1}
    assert deduce(assassin_failed, "p1").player("p3").roles.keys() > {"oberon"}
    assert deduce(assassin_failed, "p3").player("p1").roles == {"assassin": 1}
    for other in (None, "p2", "p4", "p5"):
        seen = [deduce(log, other) for log in (oberon_failed, assassin_failed, _log({}))]
        assert len({str(found.worlds()) for found in seen}) == 1
        assert len({frozenset(told.text for told in found.steps) for found in seen}) == 1
        assert seen[0].steps[-1].text == "quest 1 with p1, p3: 1 fail"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seat": "Zoe"}, "nobody is called"),
        ({"seat": "Ann"}, "which card does Ann hold"),
        ({"seat": "Ann", "role": "oberon"}, "no role 'oberon'"),
        ({"role": "merlin"}, "belong to a seat"),
        ({"seat": "Ann", "role": "merlin", "saw": ["Zoe"]}, "nobody is called"),
    ],
)
def test_a_seat_that_cannot_be_is_refused(options: Json, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        deduce(TEXT, options.pop("seat", None), **options)


def test_a_card_that_differs_from_the_record_is_refused() -> None:
    with pytest.raises(RecordError, match="holds servant in the record, not merlin"):
        deduce("deal Ann=servant\n" + TEXT, "Ann", role="merlin")
