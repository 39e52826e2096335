"""Which obligations a proof of each kind needs, so that a certificate with some of them missing is refused.

The names are those `obligations` and `pair_obligations` give. Takes what the list of contents says of a property; gives
what is missing there. It trusts nothing but that list: a property without a proof and without a game is not covered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proofs.evidence import Evidence
from proofs.obligations import slug

INDUCTION, UNROLLING, LENGTH, RANKING = "induction", "unrolling", "length", "ranking"
INVARIANT, PAIRS, TWINS, NEVER_STUCK = "invariant", "two games", "twins", "ranking, never stuck"
METHODS = (INDUCTION, UNROLLING, LENGTH, RANKING, NEVER_STUCK, INVARIANT, PAIRS, TWINS)

NOT_COVERED = (
    "how the rules were turned into formulas: one translator made them for both solvers, and a wrong reading of the "
    "rules would be certified too; the second reading looks for one on small tables, and is no proof",
    "what the rulebooks say before that: one parser, one composition and one type checker read them for everybody",
    "that a claim ever applies, and the games that show one: the interpreter has replayed them, no solver has",
    "for claims about what players know: that two games look the same to a seat is as the translator has it, and so is "
    "that formulas which halt more often play the same games",
)


def method_of(evidence: Evidence) -> str:
    """The kind of proof."""
    if evidence.twins is not None:
        return TWINS
    if evidence.invariant is not None:
        return INVARIANT
    if evidence.shared is not None:
        return PAIRS
    if evidence.ranks is not None:
        return RANKING if evidence.bad is False else NEVER_STUCK
    if evidence.events is None:
        return INDUCTION
    return LENGTH if evidence.bad is False else UNROLLING


def leans(evidence: Evidence) -> bool:
    """Does the proof rest on claims that are inductive, or on every state being well formed?"""
    return bool(evidence.claims) or evidence.events is None


def prefix_of(number: int) -> str:
    """What stands before the names of the obligations of a further system."""
    return f"{number} " if number else ""


def _needed(name: str, entry: Mapping[str, Any], systems: Sequence[Sequence[str]]) -> Iterator[str]:
    """The names of the obligations; a "*" stands for what tells several of them apart."""
    places, method = systems[entry["system"]], entry["method"]
    leaning = set(entry["leaning"])
    if method not in (UNROLLING, LENGTH):
        leaning.add(entry["system"])
    for number in sorted(leaning):
        yield f"{prefix_of(number)}initiation"
        yield from (f"{prefix_of(number)}consecution {place}" for place in systems[number])
    match method:
        case "induction":
            yield f"safety {name}"
        case "unrolling":
            yield from (f"unrolling {name}", f"longest {name}")
        case "length":
            yield f"longest {name}"
        case "ranking" | "ranking, never stuck":
            yield f"rank {name} at the start"
            yield from (f"rank {name} {place}" for place in places)
            if method == NEVER_STUCK:
                yield f"safety {name}"
        case "invariant":
            yield f"invariant {name} at the start"
            yield from (f"invariant {name} {place}" for place in places)
            yield f"safety {name}"
        case "two games":
            yield "pair initiation"
            yield from (f"pair consecution {place}" for place in places)
            yield f"pair safety {name}"
        case "twins":
            yield "twin initiation"
            yield from (f"twin stages * {place}" for place in places)
            yield f"safety {name}"


def gaps(contents: Mapping[str, Any]) -> dict[str, str]:
    """For every property named that its files do not cover what is missing, or why the entry makes no sense."""
    listed, systems = set(contents["files"]), [list(places) for places in contents["places"]]
    found = {}
    for name, entry in contents["properties"].items():
        missing = _gap(name, entry, listed, systems)
        if missing:
            found[name] = missing
    return found


def _gap(name: str, entry: Mapping[str, Any], listed: set[str], systems: Sequence[Sequence[str]]) -> str:
    files, method, note = list(entry["files"]), entry["method"], entry["note"]
    if not method:
        return "" if note and not files else "it has no proof, and nothing says why"
    if method not in METHODS:
        return f"there is no kind of proof called '{method}'"
    if not systems[entry["system"]]:
        return "no place of the game is listed"
    strays = [file for file in files if file not in listed]
    if strays:
        return f"its file {strays[0]} is not listed"
    for wanted in _needed(name, entry, systems):
        if not any(_fits(file.removesuffix(".smt2"), wanted) for file in files):
            return f"no file covers '{wanted}'"
    return ""


def _fits(stem: str, wanted: str) -> bool:
    """Is this the file of an obligation?"""
    first, star, last = wanted.partition("*")
    if not star:
        return stem == slug(wanted)
    return stem.startswith(f"{slug(first)}-") and stem.endswith(f"-{slug(last)}")
