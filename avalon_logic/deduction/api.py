"""The one call most people need: a record in, what can be concluded out.

>>> from avalon_logic.deduction import deduce
>>> found = deduce("players Ann Bob Cid Dan Eve\\nfirst_leader Ann\\npropose Ann Bob\\nvote ?\\ntally 1")
>>> print(found)
Neutral observer: 42 of 60 deals are possible
<BLANKLINE>
player   evil  can be
Ann     57.1%  servant 28.6%, assassin 28.6%, minion 28.6%, merlin 14.3%
Bob     57.1%  servant 28.6%, assassin 28.6%, minion 28.6%, merlin 14.3%
Cid     28.6%  servant 47.6%, merlin 23.8%, assassin 14.3%, minion 14.3%
Dan     28.6%  servant 47.6%, merlin 23.8%, assassin 14.3%, minion 14.3%
Eve     28.6%  servant 47.6%, merlin 23.8%, assassin 14.3%, minion 14.3%
<BLANKLINE>
nothing is certain about anybody
worlds removed:
-18  quest 1 with Ann, Bob: 1 fail (line 5)
assumptions: none; by the rules votes prove nothing and claims may be lies
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from avalon_logic.configuration import Configuration, examine
from avalon_logic.deduction.course import IllegalEvent, begin, contradict, finish, setting_of, tell
from avalon_logic.deduction.facts import parse_fact
from avalon_logic.deduction.inquiry import Inquiry, note_sights, suppose
from avalon_logic.deduction.result import Result, conclude
from avalon_logic.deduction.seats import card_shows, sights_told, whole_deal
from avalon_logic.deduction.setting import Setting
from avalon_logic.logs import import_game, is_log
from avalon_logic.records import Record, RecordError, record_from_json
from avalon_logic.typed_records import read_record
from rules_dsl import Model

MOST_EVENTS = 2_000  # a game has at most 25 votes; the rest is talk


def deduce(
    record: Record | Path | str | Mapping[str, Any],
    seat: str | None = None,
    *,
    role: str | None = None,
    saw: Sequence[str] | None = None,
    assume: Sequence[str] = (),
    if_: Sequence[str] = (),
) -> Result:
    """What can be concluded from a record (a `Record`, a path, the text itself, or JSON data).

    `seat` names the player whose knowledge counts (none: a neutral observer); `role` and `saw` give the card and the
    seats seen at the reveal if the record does not. `assume` names assumptions about how people play, `if_` facts to
    suppose such as "Ann is not merlin".

    >>> from avalon_logic.deduction import deduce
    >>> text = "players Ann Bob Cid Dan Eve\\nfirst_leader Ann\\npropose Ann Bob\\nvote ?\\ntally 1"
    >>> deduce(text, seat="Ann", role="servant").certain[-1].fact.text(("Ann", "Bob", "Cid", "Dan", "Eve"))
    'Bob is evil'
    >>> deduce(text, seat="Cid", role="merlin", saw=["Ann", "Dan"]).count
    2
    >>> deduce(text, if_=["Ann is good"]).count
    18
    """
    whole = record if isinstance(record, Record) else read(record)
    if len(whole.events) > MOST_EVENTS:
        raise RecordError(f"this record has {len(whole.events):,} events; {MOST_EVENTS:,} is the most")
    setting = setting_of(whole, assume)
    facts = [parse_fact(text, setting) for text in if_]
    inquiry = begin(whole, setting, seat, role, saw)
    for number, event in enumerate(whole.events):
        try:
            inquiry = tell(inquiry, whole, event)
        except IllegalEvent:
            if not assume:
                raise
            _tell_all(replace(whole, events=whole.events[: number + 1]), setting_of(whole), seat, role, saw)
            inquiry = contradict(inquiry, whole, event)  # legal, but not if the assumptions hold
    inquiry = finish(inquiry, whole)
    notes = _notes(inquiry, whole, saw is not None)
    for fact in facts:
        inquiry = suppose(inquiry, fact)
    return conclude(inquiry, whole, if_, notes)


def _tell_all(
    record: Record, setting: Setting, seat: str | None, role: str | None, saw: Sequence[str] | None
) -> Inquiry:
    """The inquiry after all events; raises `RecordError` if they are not legal."""
    inquiry = begin(record, setting, seat, role, saw)
    for event in record.events:
        inquiry = tell(inquiry, record, event)
    return inquiry


def read(source: Path | str | Mapping[str, Any], paths: tuple[Path, ...] = ()) -> Record:
    """A record from a path, from its text (typed or JSON), or from JSON data; also a game of another site's log."""
    path = source if isinstance(source, Path) else None
    if isinstance(source, Path):
        source = source.read_bytes().decode("utf-8-sig")
    if isinstance(source, str):
        if source.lstrip().startswith("{"):
            try:
                data = json.loads(source)
            except (json.JSONDecodeError, RecursionError):
                data = None  # read_record says where
            if data is not None and is_log(data):
                return import_game(data)
        return read_record(path, source, model_of, paths)
    return import_game(dict(source)) if is_log(source) else record_from_json(dict(source), paths)


def model_of(configuration: Configuration) -> Model:
    """The model a text record speaks of."""
    return examine(configuration).model


def _notes(inquiry: Inquiry, record: Record, seen: bool) -> list[str]:
    """Says if nobody wrote down whom the seat saw although it matters."""
    model, viewer = inquiry.setting.model, inquiry.viewer
    if viewer is None or seen or whole_deal(record, model) is not None:
        return []
    if any(sights_told(e, record, model, viewer) for e in record.events if e.phase in model.phases):
        return []
    every = tuple(dict.fromkeys(show.name for _, show in card_shows(model)))
    if not every or note_sights(inquiry, {every: frozenset()}, "").count() == inquiry.count():
        return []
    name = record.names[viewer]
    return [
        f"whom {name} saw at the reveal is not written down; add --saw NAMES (or nobody), or: reveal {name}=NAME+NAME"
    ]
