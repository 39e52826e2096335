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

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from avalon_logic.deduction.facts import parse_fact
from avalon_logic.deduction.result import Result
from avalon_logic.deduction.underway import answer, extend, start
from avalon_logic.reading import record_of_data, record_of_text
from avalon_logic.records import Record


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
    begun = start(whole, seat, role=role, saw=saw, assume=assume)
    for text in if_:
        parse_fact(text, begun.inquiry.setting)  # a mistyped question is told before a long answer
    return answer(extend(begun, whole), whole, if_)


def read(source: Path | str | Mapping[str, Any], paths: tuple[Path, ...] = ()) -> Record:
    """A record from a path, from its text (typed or JSON), or from JSON data; also a game of another site's log."""
    path = source if isinstance(source, Path) else None
    if isinstance(source, Path):
        source = source.read_bytes().decode("utf-8-sig")
    if isinstance(source, str):
        return record_of_text(source, path, None, paths)
    return record_of_data(dict(source), paths=paths)
