"""Records of shapes that the shipped rulebooks do not have, read by the replay, by deduction and by explanations."""

from __future__ import annotations

from pathlib import Path

import pytest

from avalon_logic.configuration import examine
from avalon_logic.deduction import deduce
from avalon_logic.deduction.why import Case
from avalon_logic.records import Record, RecordError, record_from_json, record_to_json
from avalon_logic.replay import Replay, replay
from avalon_logic.typed_records import read_record, record_to_text
from rules_dsl import Model

HEAD = """game house {
  players 2..4
  enum Side { good, evil }
  enum Role (side: Side, plain: Bool = false) { sheep(good, plain = true)  wolf(evil) }
  result Side
  param deck: Role -> 0..10 = map(r in Role: if r == wolf then 1 else players - 1)
  def side(p: Player) = role[p].side
  public who: Player
  public n: 0..9 = 0
  start deal
  phase deal { chance deals role: Player -> Role from deck own  next turn }
"""


def house(tmp_path: Path, rules: str) -> tuple[Path, ...]:
    path = tmp_path / "house.rules"
    path.write_text(HEAD + rules + "\n}\n", encoding="utf-8")
    return (path,)


def read(paths: tuple[Path, ...], lines: str) -> Record:
    def model_of(configuration: object) -> Model:
        return examine(configuration).model  # type: ignore[arg-type]

    return read_record(None, f"game house\nplayers Ann Bob Cid\n{lines}", model_of, paths)


def judged(paths: tuple[Path, ...], lines: str) -> Replay:
    return replay(read(paths, lines))


def agree(paths: tuple[Path, ...], lines: str) -> int:
    """How many deals are possible, the same to the worlds and to what explains them."""
    found = deduce(read(paths, lines))
    assert len(Case(found.inquiry).worlds(20)) == found.count
    return found.count


DICE = """
  public total: 0..9 = 0
  phase turn { chance chooses die: 1..3 public
    total := min(total + die, 9)
    if total >= 4 { win good }
    next turn }
"""


def test_every_throw_of_a_phase_that_leads_to_itself_is_an_event(tmp_path: Path) -> None:
    paths = house(tmp_path, DICE)
    assert judged(paths, "turn 1\nturn 2\nturn 3\nwinner good").legal
    once = judged(paths, "turn 2")
    assert once.legal
    assert not once.over
    twice = judged(paths, "turn 2\nturn 2")
    assert twice.over
    over = judged(paths, "turn 2\nturn 2\nturn 1")
    assert [f.message for f in over.findings] == ["the game is over by then"]


TWICE = """
  phase turn { who chooses x: 1..3 secret
    publish amount = x
    publish amount = if role[who] == wolf then 4 - x else x
    if x == 3 { publish sign = role[left(who)] == wolf }
    next tell }
  phase tell { publish rest = 3 - x  win good }
"""


def test_two_values_published_in_one_phase_are_two_fields_of_one_event(tmp_path: Path) -> None:
    paths = house(tmp_path, TWICE)
    record = read(paths, "turn amount 1 amount 3\ntell 2\nwinner good")
    assert dict(record.events[0].values) == {"amount": 1, "amount 2": 3}
    assert replay(record).legal
    assert agree(paths, "turn amount 1 amount 3\ntell 2") == 1  # the first player is the wolf
    assert agree(paths, "turn amount 1 amount 1\ntell 2") == 2
    assert agree(paths, "turn amount ? amount 3") == 3
    again = record_from_json(record_to_json(record), paths)
    assert [dict(e.values) for e in again.events] == [dict(e.values) for e in record.events]
    assert (
        read(paths, "\n".join(record_to_text(record).splitlines()[2:])).events[0].values
        == record.events[0].values
    )


def test_a_value_that_was_not_published_is_no_part_of_a_game(tmp_path: Path) -> None:
    paths = house(tmp_path, TWICE)
    found = judged(paths, "turn amount 1 amount 1 sign +\ntell 2")
    assert [f.message for f in found.findings] == ["sign was not told here"]
    with pytest.raises(RecordError, match="rest"):
        deduce(read(paths, "turn amount 1 amount 1 rest 2"))


def test_a_value_published_in_a_phase_with_a_secret_choice_counts(tmp_path: Path) -> None:
    paths = house(
        tmp_path,
        """
  phase turn { who chooses x: Bool secret  require x iff role[who] == wolf "only the wolf may"
    publish howl = x
    next done }
  phase done { who chooses y: Bool public  win good }
""",
    )
    assert agree(paths, "turn howl +") == 1
    assert agree(paths, "turn howl -\ndone +") == 2


def test_a_variable_published_in_two_phases_before_the_next_choice_is_two_values(tmp_path: Path) -> None:
    paths = house(
        tmp_path,
        """
  phase turn { who chooses x: Bool public  next early }
  phase early { publish howl = role[who] == wolf  next later }
  phase later { publish howl = role[left(who)] == wolf  next done }
  phase done { who chooses y: Bool public  win good }
""",
    )
    lines = "turn +\nearly -\nlater +\ndone -"
    assert judged(paths, f"deal Ann=sheep Bob=wolf Cid=sheep\n{lines}").legal
    assert agree(paths, lines) == 1
    assert agree(paths, "turn +\nearly -\nlater -\ndone -") == 1
    assert agree(paths, "turn +\nlater -") == 2
    assert agree(paths, "turn +\nearly +\nlater +") == 0


def test_a_choice_declined_is_none_and_one_not_written_down_is_not(tmp_path: Path) -> None:
    paths = house(
        tmp_path,
        """
  phase turn { who may choose prey: Player public  next done }
  phase done { if prey is none { win good }  next hunt }
  phase hunt { publish fed = role[who] == wolf  win evil }
""",
    )
    assert judged(paths, "turn none\nwinner good").result == "good"
    assert judged(paths, "turn ?").result is None
    assert judged(paths, "turn none\nhunt +").findings
    record = read(paths, "turn none")
    assert record_to_json(record)["events"] == [{"phase": "turn", "prey": "none"}]
    assert record_from_json(record_to_json(record), paths).events[0].values == {"prey": "none"}
    assert agree(paths, "turn ?\nhunt +") == 1


def test_a_declined_choice_that_only_some_may_decline_tells_of_their_cards(tmp_path: Path) -> None:
    paths = house(
        tmp_path,
        """
  phase turn { who may choose prey: Player public  publish hungry = prey is none and role[who] == wolf
    next done }
  phase done { who chooses y: Bool public  win good }
""",
    )
    assert agree(paths, "turn none hungry +") == 1
    assert agree(paths, "turn prey none hungry -") == 2
    assert agree(paths, "turn prey Bob hungry -") == 3


PASSED = """
  phase turn { who chooses x: Bool public
    who chooses y: Bool public when x
    n := min(n + 1, 9)
    if n == 2 { win good }
    next turn }
"""


def test_a_public_choice_that_was_passed_over_is_not_taken_as_made(tmp_path: Path) -> None:
    paths = house(tmp_path, PASSED)
    for lines in ("turn x + y +\nturn x -", "turn x -\nturn x + y -", "turn x -\nturn x -"):
        assert judged(paths, lines).over, lines
        assert agree(paths, f"{lines}\nwinner good") == 3


def test_a_value_for_a_choice_that_was_passed_over_is_held_against_the_record(tmp_path: Path) -> None:
    paths = house(tmp_path, PASSED)
    found = judged(paths, "turn x - y +")
    assert [f.message for f in found.findings] == ["nobody chooses y here"]
    with pytest.raises(RecordError, match="nobody chooses y here"):
        deduce(read(paths, "turn x - y +"))


def test_a_map_keyed_by_numbers_is_written_by_its_keys(tmp_path: Path) -> None:
    paths = house(
        tmp_path,
        """
  type Hole = 1..3
  phase turn { who chooses plan: Hole -> Bool public
    publish seen: Hole -> Bool = map(h in Hole: plan[h] or role[who] == wolf)
    win good }
""",
    )
    lines = "turn plan 1=+ 2=- 3=- seen 1=+ 2=+ 3=+\nwinner good"
    record = read(paths, lines)
    assert record.events[0].values["plan"] == {"1": True, "2": False, "3": False}
    assert replay(record).legal
    assert agree(paths, lines) == 1
    assert record_from_json(record_to_json(record), paths).events[0].values == record.events[0].values
    with pytest.raises(RecordError, match="'3' is missing"):
        judged(paths, "turn plan 1=+ 2=-")
    with pytest.raises(RecordError, match=r"4 is not in 1\.\.3"):
        judged(paths, "turn plan 1=+ 2=- 4=-")


def test_what_no_reader_could_use_is_refused(tmp_path: Path) -> None:
    paths = house(
        tmp_path,
        """
  phase turn { each p in Player chooses vote: Bool public  next tell }
  phase tell { publish many = count(p in Player | vote[p])  win good }
""",
    )
    for lines, said in (
        ("turn + + - by Ann", "nobody chooses alone in 'turn'"),
        ("turn + + -\ntell 2 by Ann", "nobody chooses alone in 'tell'"),
    ):
        record = read(paths, lines)
        with pytest.raises(RecordError, match=said):
            replay(record)
        with pytest.raises(RecordError, match=said):
            deduce(record)
    mention = record_from_json(
        {"game": "house", "players": ["Ann", "Bob", "Cid"], "events": [{"phase": "tell", "who": "Ann"}]},
        paths,
    )
    for command in (replay, deduce):
        with pytest.raises(RecordError, match="'who' cannot be compared in 'tell'"):
            command(mention)


CIRCLE = """
  public asked: Set<Player> = {}
  def left_over = { p in Player | not p in asked }
  def next_up = { p in left_over | all(q in left_over | q >= p) }
  phase turn { one p in next_up chooses yes: Bool public when size(left_over) > 0
    publish wolfish = role[yes_by] == wolf
    if size(left_over) == 0 { win good }
    asked := asked union { yes_by } union { right(yes_by) }
    next turn }
"""


def test_a_circle_in_which_a_choice_is_passed_over_is_followed_to_its_end(tmp_path: Path) -> None:
    paths = house(tmp_path, CIRCLE)
    lines = "turn yes + wolfish - by Ann\nturn yes - wolfish + by Bob\nturn wolfish -"
    assert judged(paths, f"deal Ann=sheep Bob=wolf Cid=sheep\n{lines}\nwinner good").legal
    assert agree(paths, f"{lines}\nwinner good") == 1
