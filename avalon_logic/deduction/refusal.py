"""Which rule a record breaks, said alike by everybody who reads it: what a replay finds, where a deduction stops.

A deduction stops at the first event that no game could contain. The fault may lie with an earlier one, or with a rule
that a deduction does not look at; a replay knows.
"""

from __future__ import annotations

from dataclasses import replace

from avalon_logic.deduction.course import IllegalEvent
from avalon_logic.records import Record, RecordError
from avalon_logic.replay import TooOpen, replay


def fault_of(record: Record) -> IllegalEvent | None:
    """The first event of a record that no game could contain, with the clauses; None if a replay finds none."""
    try:
        findings = replay(record).findings
    except TooOpen:
        return None
    for finding in findings:
        if finding.fatal and finding.event:
            where = record.events[finding.event - 1].where or f"event {finding.event}"
            clause = f" ({', '.join(finding.clauses)})" if finding.clauses else ""
            return IllegalEvent(f"{finding.message}{clause}", where, finding.clauses)
    return None


def refusal(record: Record, number: int, found: IllegalEvent) -> IllegalEvent:
    """What to say of a record that cannot be followed past its event of this number."""
    try:
        fault = fault_of(replace(record, events=record.events[:number], winner=None))
    except RecordError:
        return found
    if fault is None or set(fault.cites) & set(found.cites):
        return found
    return fault
