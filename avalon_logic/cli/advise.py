"""`avalon advise RECORD`: the teams a leader may propose, or the seats as Merlin, ranked by chance."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from avalon_logic.cli.output import BadInput, bad_input, console, print_json
from avalon_logic.cli.viewpoint import add_viewpoint, deduced

if TYPE_CHECKING:
    from rich.console import RenderableType

    from avalon_logic.deduction import Result
    from avalon_logic.deduction.advice import NamingAdvice, TeamAdvice

EPILOG = """For the leader: every team of the right size with the chance that nobody on it is evil, the chance that its
quest succeeds, and what the number of fails would tell about the deal (in bits: one bit halves the possibilities).
For the Assassin, or with --for assassin: the seats ranked as Merlin.

All deals that fit the record count alike, unless a weighted assumption is named. How evil plays its cards on the
next quest must be assumed to say what a quest would bring: evenly, unless an assumption about cards is named.

examples:
  avalon advise friday.txt                                   as a neutral observer sees it
  avalon advise friday.txt --as Ann --role servant           what Ann can know
  avalon advise friday.txt --as Eve --role assassin --saw Dan --assume merlin_avoids_seen_evil
  avalon advise friday.txt --by information --top 5 --json"""

TOP = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("record", metavar="RECORD", help="a record; - reads standard input")
    parser.add_argument(
        "--for",
        dest="whom",
        choices=("leader", "assassin"),
        help="whom to advise (default: whoever is to choose)",
    )
    parser.add_argument(
        "--quest", type=int, metavar="N", help="the quest to find a team for, where there is a choice"
    )
    parser.add_argument(
        "--by",
        choices=("chance", "information"),
        default="chance",
        help="rank teams by the chance that nobody is evil (default) or by what they tell",
    )
    parser.add_argument("--top", type=int, default=TOP, metavar="N", help=f"how many teams (default {TOP})")
    add_viewpoint(parser)
    parser.add_argument("--json", action="store_true", help="every rank as JSON")


def run(args: argparse.Namespace) -> int:
    from avalon_logic.deduction.advice import advise_naming, advise_teams, awaits_naming, holds_killer

    if args.top < 1:
        raise BadInput("--top must be at least 1")
    result = deduced(args.record, args)
    if not result.possible:
        console().print("no deal is possible; avalon deduce says why", markup=False)
        return 1
    naming = args.whom == "assassin" or (args.whom is None and awaits_naming(result))
    with bad_input():
        teams = None if naming else advise_teams(result, args.quest)
        seats = advise_naming(result) if naming or (args.whom is None and holds_killer(result)) else None
    if args.json:
        print_json(advice_json(teams, seats, result))
        return 0
    if teams is not None:
        console().print(team_table(teams, args.top, args.by))
    if seats is not None:
        console().print(naming_table(seats))
    return 0


def _viewed(result: Result) -> str:
    return "a neutral observer" if result.seat is None else result.seat


def _grounds(result: Result) -> list[str]:
    from avalon_logic.deduction.display import assumption_lines

    return [*assumption_lines(result), *(f"note: {note}" for note in result.notes)]


def team_table(advice: TeamAdvice, top: int, by: str) -> RenderableType:
    """Teams for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from avalon_logic.deduction.display import percent

    teams = list(advice.teams)
    if by == "information":
        teams.sort(key=lambda t: -round(t.information or 0.0, 9))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("team", overflow="fold")
    for head in ("no evil", "succeeds", "tells"):
        table.add_column(head, justify="right", no_wrap=True)
    for team in teams[:top]:
        succeeds = "?" if team.succeeds is None else percent(team.succeeds)
        tells = "?" if team.information is None else f"{team.information:.2f} bits"
        table.add_row(Text(", ".join(team.members)), percent(team.clean), succeeds, tells)
    title = f"Teams for quest {advice.quest}, as {_viewed(advice.result)} can know"
    more = [Text(f"the first {top} of {len(teams)} teams")] if len(teams) > top else []
    cards = "; ".join(f"{a.text} ({a.name})" for a in advice.cards)
    rest = [f"cards on this quest: {cards}", *_grounds(advice.result)]
    return Group(Text(title, style="bold"), table, *more, *(Text(line) for line in rest))


def naming_table(advice: NamingAdvice) -> RenderableType:
    """Seats as Merlin for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from avalon_logic.deduction.display import percent

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("seat")
    table.add_column("is Merlin", justify="right")
    for name, share in advice.seats:
        table.add_row(Text(name), percent(share))
    title = f"Who may be Merlin, as {_viewed(advice.result)} can know"
    lines = [Text(line) for line in _grounds(advice.result)]
    return Group(Text(title, style="bold"), table, *lines)


def advice_json(teams: TeamAdvice | None, seats: NamingAdvice | None, result: Result) -> dict[str, Any]:
    """All ranks as JSON."""
    made: dict[str, Any] = {"seat": result.seat, "worlds": result.count}
    if teams is not None:
        made["quest"] = teams.quest
        made["teams"] = [
            {
                "members": list(t.members),
                "no_evil": float(t.clean),
                "succeeds": t.succeeds,
                "information_bits": t.information,
            }
            for t in teams.teams
        ]
        made["cards"] = [{"name": a.name, "text": a.text} for a in teams.cards]
    if seats is not None:
        made["merlin"] = [{"name": name, "share": float(share)} for name, share in seats.seats]
    made["notes"] = list(result.notes)
    made["assumptions"] = [{"name": a.name, "text": a.text, "kind": a.kind} for a in result.assumptions]
    return made
