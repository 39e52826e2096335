"""`avalon prove`: is a property true in every game, for every table at once? The verdicts, and games that show them."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from avalon_logic.cli.output import (
    BadInput,
    add_rulings,
    bad_input,
    print_json,
    rulings_of,
    termination_interrupts,
)
from avalon_logic.writing import write_whole
from rules_dsl import Value

if TYPE_CHECKING:
    from proofs.families import Family
    from proofs.verdicts import Verdict

EPILOG = """Without arguments every shipped property is decided, for 5 to 10 players, every deck, every mix of modules and
every ruling at once. With files of your own their properties are decided, for every game they fit and every mix of the
shipped modules, unless you ask for less; if your files state none, the shipped ones are, with your modules put in.
Every verdict is printed below the tables it holds for.

verdicts: proved; refuted (with the shortest game); bounded (nothing found up to so many events, no proof); unknown;
          vacuous (true only because it never applies)

examples:
  avalon prove                                        all shipped properties
  avalon prove --property everybody_leads             one of them, with the game that refutes it
  avalon prove --game avalon --players 7 --with lady --without targeting
  avalon prove --property never_stuck --ruling fifth_team=no_vote
  avalon prove house.rules                            your own rules
  avalon prove house.rules --save games/ --json       counterexamples as records for avalon replay
  avalon prove --certify proofs/ --junit prove.xml    proofs another solver has checked, a report for CI

exit codes: 0 all verdicts as expected (with --certify: and every proof has a certificate that stands), 1 a verdict its
            author did not expect, or a certificate that failed, 2 bad input, 3 something undecided or not certified"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="rulebook files of your own")
    parser.add_argument(
        "--game",
        action="append",
        metavar="G",
        help="only this game: resistance, avalon, avalon_2021 or your own",
    )
    parser.add_argument("-n", "--players", type=int, metavar="N", help="only tables of so many players")
    parser.add_argument(
        "--with",
        dest="modules",
        nargs="+",
        action="extend",
        default=[],
        metavar="MODULE",
        help="modules that are in; the others may be in or out",
    )
    parser.add_argument(
        "--without",
        nargs="+",
        action="extend",
        default=[],
        metavar="MODULE",
        help="modules that are out",
    )
    add_rulings(parser)
    parser.add_argument(
        "--property",
        dest="properties",
        action="append",
        default=[],
        metavar="P",
        help="only this property; its game is printed",
    )
    parser.add_argument(
        "--time",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds of processor time for each property (default 60); on a busy machine up to ten times as long",
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes (default: all cores)",
    )
    parser.add_argument(
        "--memory",
        type=int,
        metavar="MB",
        help="megabytes for the solver of each process (default: what there is)",
    )
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="list the rules no property depends on or no game puts to use",
    )
    parser.add_argument(
        "--save", type=Path, metavar="DIR", help="write every game found as a record into DIR"
    )
    parser.add_argument(
        "--certify",
        type=Path,
        metavar="DIR",
        help="write every proof obligation into DIR, let a second solver (cvc5) check it, and compare the formulas with the "
        "interpreter on small tables",
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit report for CI into FILE")
    parser.add_argument("--json", action="store_true", help="the whole report as JSON (docs/proofs.md)")


def run(args: argparse.Namespace) -> int:
    from avalon_logic.cli.evidence import (
        Certified,
        certify,
        make_room,
        print_certified,
        ready_to_report,
        write_junit,
    )
    from avalon_logic.cli.verdicts import Live, print_summary
    from proofs.prover import Options
    from proofs.verdicts import exit_code
    from proofs.workers import decide

    if args.coverage and (args.certify or args.junit or args.save):
        raise BadInput("--coverage decides nothing to certify, report or save: ask for it by itself")
    ready_to_report(args.certify, args.junit)
    if args.time <= 0 or args.jobs < 1 or (args.memory is not None and args.memory < 1):
        raise BadInput("--time, --memory and -j are positive numbers")
    with bad_input():
        families = chosen_families(args)
    options = Options(seconds=args.time, only=tuple(args.properties), memory=args.memory)
    _known_properties(families, args.properties)
    if args.coverage:
        from avalon_logic.cli.coverage import show_coverage

        return show_coverage(families, options, args.jobs, args.json)
    wanted = [f for f in families if not args.properties or set(args.properties) & set(f.properties)]
    if args.certify is not None:
        make_room(args.certify, wanted)
    unwritten: dict[str, str] = {}
    live = Live(wanted, args.properties, quiet=args.json)
    interrupted = False
    verdicts = decide(wanted, options, args.jobs, args.certify, unwritten.__setitem__)
    try:
        with termination_interrupts():
            for verdict in verdicts:
                live.add(verdict)
    except KeyboardInterrupt:
        interrupted = True
        verdicts.close()  # type: ignore[attr-defined]
    live.end()
    found = live.found
    certified = Certified()
    if args.certify is not None and not interrupted:
        with bad_input():
            certified = certify(args.certify, wanted, found, unwritten, args.time, args.jobs)
    if args.junit is not None:
        with bad_input():
            write_junit(args.junit, families, found, certified)
    if args.save is not None:
        with bad_input():
            _save(args.save, families, found)
    if args.json:
        report = report_json(families, found, live.total, interrupted)
        if args.certify is not None:
            report["certificates"] = certified.as_json()
            report["second_readings"] = dict(certified.readings)
            for entry, verdict in zip(report["properties"], found, strict=True):
                entry["certificate"] = certified.line(verdict)
        print_json(report)
    else:
        print_summary(found, live.total, interrupted)
        if args.certify is not None and not interrupted:
            print_certified(certified)
    codes = {exit_code(found), certified.exit_code}
    return 3 if interrupted else 1 if 1 in codes else max(codes)


def chosen_families(args: argparse.Namespace) -> list[Family]:
    """The families the options ask for."""
    from avalon_logic.proving import GAMES, check_fixed, own_families, shipped_families

    fixed: dict[str, Value] = dict(rulings_of(args.ruling))
    if args.players is not None:
        fixed["players"] = args.players
    if args.files:
        families = own_families(
            args.files, args.game, modules=args.modules, without=args.without, fixed=fixed
        )
    else:
        families = shipped_families(
            args.game or GAMES, modules=args.modules, without=args.without, fixed=fixed
        )
    if not families:
        raise BadInput("nothing to prove: no game here has properties")
    check_fixed(families, fixed)
    return families


FEW = 12  # names shown where none is like the one asked for


def _known_properties(families: Sequence[Family], asked: Sequence[str]) -> None:
    known = {name for family in families for name in family.properties}
    for name in asked:
        if name not in known:
            near = get_close_matches(name, sorted(known), 5)
            some = near or sorted(known)[:FEW]
            more = (
                f" and {len(known) - len(some)} more (avalon prove lists all)"
                if len(known) > len(some)
                else ""
            )
            raise BadInput(f"there is no property '{name}'; there are {', '.join(some)}{more}")


# --- JSON and records ---


def report_json(
    families: Sequence[Family], found: Sequence[Verdict], total: int, interrupted: bool
) -> dict[str, Any]:
    """The report as JSON (schema in docs/proofs.md)."""
    from proofs.scope import full_scope

    by_name = {family.name: family for family in families}
    return {
        "families": [
            {
                "family": f.name,
                "game": f.game,
                "modules": list(f.modules),
                "open_modules": list(f.open_modules),
                "left_out": list(f.left_out),
                "scope": full_scope(f),
                "fixed": dict(f.fixed),
            }
            for f in families
        ],
        "properties": [verdict_json(by_name[v.family], v) for v in found],
        "asked": total,
        "interrupted": interrupted,
    }


def verdict_json(family: Family, verdict: Verdict) -> dict[str, Any]:
    """One verdict as JSON."""
    from avalon_logic.counterexamples import record_of
    from avalon_logic.records import record_to_json
    from proofs.scope import full_scope

    claim = verdict.claim
    return {
        "family": verdict.family,
        "property": claim.name,
        "kind": claim.kind,
        "text": claim.text,
        "clauses": list(claim.origin.cites),
        "expect": claim.expect,
        "verdict": verdict.outcome,
        "as_expected": verdict.as_expected,
        "elsewhere": verdict.elsewhere,
        "scope": full_scope(family),
        "how": verdict.how,
        "lemmas": list(verdict.lemmas),
        "events": verdict.depth,
        "seconds": round(verdict.seconds, 3),
        "game": record_to_json(record_of(family, verdict.game)) if verdict.game else None,
        "twin": record_to_json(record_of(family, verdict.twin)) if verdict.twin else None,
        "seat": None if verdict.seat is None else verdict.seat + 1,
    }


def _save(folder: Path, families: Sequence[Family], found: Sequence[Verdict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path, data in _records(folder, families, found):
        write_whole(path, json.dumps(data, ensure_ascii=False, indent=1) + "\n")


def _records(
    folder: Path, families: Sequence[Family], found: Sequence[Verdict]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    from avalon_logic.counterexamples import record_of
    from avalon_logic.records import record_to_json

    by_name = {family.name: family for family in families}
    for verdict in found:
        for suffix, game in (("", verdict.game), ("-twin", verdict.twin)):
            if game is not None:
                family = by_name[verdict.family]
                name = f"{family.game}-{verdict.name}{suffix}.json"
                yield folder / name, record_to_json(record_of(family, game))
