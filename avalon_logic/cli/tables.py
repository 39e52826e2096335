"""`avalon tables`: the referee's tables for a game, printed, or written as a booklet."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from avalon_logic.cli.output import BadInput, add_configuration, bad_input, configuration_of, console
from avalon_logic.cli.streams import visible, write_bytes
from avalon_logic.deduction.api import read
from avalon_logic.referee.booklet import booklet, card, gather, verdicts
from avalon_logic.referee.document import Booklet
from avalon_logic.referee.formats import FORMATS, SUFFIX, render
from avalon_logic.referee.messages import LANGUAGES
from avalon_logic.referee.plan import TableSpec, plan
from avalon_logic.writing import write_all

EPILOG = """Every number is worked out by playing the rulebook; nothing is typed by hand.

examples:
  avalon tables -n 7 --roles merlin percival assassin morgana
  avalon tables -n 5 6 7 --only REF-02 REF-03 --lang fr
  avalon tables --game resistance --format html -o resistance.html
  avalon tables --with lady targeting --lang es --format html -o tablas/
                                                 all player counts, one file each, and an index
  avalon tables --card -n 8 --roles merlin percival assassin mordred --format pdf -o tonight.pdf
  avalon tables -n 5 --roles merlin percival assassin --only REF-13
                                                 why is this table refused? (exit code 1)
  avalon tables --record friday.txt --only REF-16
                                                 what each seat of a recorded game knows
  avalon tables -n 7 --json                      the same as --format json (schema: docs/tables.md)"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_configuration(parser)
    _several_counts(parser)
    group = parser.add_argument_group("the tables")
    group.add_argument("--lang", choices=LANGUAGES, default="en", help="language (default en)")
    group.add_argument(
        "--format", choices=FORMATS, default=None, help="default text, or as the output file is named"
    )
    group.add_argument("--json", action="store_true", help="the same as --format json")
    group.add_argument(
        "--only", nargs="+", metavar="REF-NN", default=None, help=f"only these: {', '.join(_ids())}"
    )
    group.add_argument("--card", action="store_true", help="one page for a game night (one player count)")
    group.add_argument(
        "--record", type=Path, metavar="FILE", help="a recorded game: what each seat knows (REF-16)"
    )
    group.add_argument(
        "-o", "--output", metavar="FILE|DIR", help="write a file, or into a folder a booklet with an index"
    )


def _several_counts(parser: argparse.ArgumentParser) -> None:
    """Lets --players take several numbers; none given means all the game has."""
    for action in parser._actions:
        if "--players" in action.option_strings:
            action.nargs = "+"
            action.default = None
            action.help = "numbers of players (default: all the game has)"


def _ids() -> list[str]:
    return sorted(spec.id for spec in plan().tables)


def run(args: argparse.Namespace) -> int:
    made = _format(args)
    only = None
    if args.only is not None:
        only = {word.upper() for word in args.only}
        unknown = sorted(only - set(_ids()))
        if unknown:
            raise BadInput(f"there is no table {', '.join(unknown)}; there are: {', '.join(_ids())}")
    if args.card and (args.players is None or len(args.players) != 1):
        raise BadInput("a card is for one number of players: say which with -n")
    refused = False
    with bad_input():
        record = None if args.record is None else read(args.record, tuple(args.rules))
        asked = [len(record.names)] if record is not None else args.players
        args.players = (asked or [5])[0]
        configuration = configuration_of(args) if record is None else record.configuration
        counts = asked or _counts(args)
        if only is not None and only == _checks_only():
            done, refused = verdicts(configuration, counts, args.lang)
        else:
            night = gather(configuration, counts, strict=asked is not None)
            done = card(night, args.lang) if args.card else booklet(night, args.lang, only, record)
    if not any(page.tables for page in done.pages):
        needs = [_need(spec) for spec in plan().tables if only is not None and spec.id in only]
        raise BadInput("; ".join(needs))
    if args.output is not None and _is_folder(args.output):
        _write_folder(done, made, Path(args.output))
    elif args.output is not None:
        _write({Path(args.output): _rendered(done, made)})
    else:
        _print(done, made)
    return int(refused)


def _need(spec: TableSpec) -> str:
    if spec.record:
        return f"{spec.id} is about a recorded game: give one with --record FILE"
    return f"this game has no {spec.id}: nobody chooses '{spec.choice}' in it"


def _checks_only() -> set[str]:
    return {spec.id for spec in plan().tables if spec.kind == "checks"}


def _counts(args: argparse.Namespace) -> list[int]:
    from avalon_logic.library import open_model

    model = open_model(args.game, paths=tuple(args.rules))
    return list(range(model.fewest, model.most + 1))


def _format(args: argparse.Namespace) -> str:
    if args.json:
        if args.format not in (None, "json"):
            raise BadInput(f"--json and --format {args.format} are not the same")
        return "json"
    if args.format is not None:
        return str(args.format)
    if args.output is not None:
        by_suffix = {suffix: name for name, suffix in SUFFIX.items()}
        return by_suffix.get(Path(args.output).suffix.lower(), "text")
    return "text"


def _is_folder(output: str) -> bool:
    path = Path(output)
    return output.endswith(("/", os.sep)) or path.is_dir() or not (path.suffix or path.exists())


def _rendered(done: Booklet, format: str) -> bytes:
    try:
        content = render(done, format)
        return content if format == "pdf" else visible(content.decode("utf-8")).encode("utf-8")
    except (ImportError, ValueError) as error:  # no library for PDF, or a letter its font does not have
        raise BadInput(str(error)) from None


def _print(done: Booklet, format: str) -> None:
    if format == "text" and sys.stdout.isatty():
        from avalon_logic.referee.formats.text import show

        show(done, console())
        return
    if format == "pdf" and sys.stdout.isatty():
        raise BadInput("a PDF is not for the terminal: say where to write it with -o")
    content = _rendered(done, format)
    if format == "text":
        print(content.decode("utf-8"), end="")
    else:
        write_bytes(sys.stdout, content)


def _write_folder(done: Booklet, format: str, folder: Path) -> None:
    """A file for each page and an index beside them."""
    from avalon_logic.referee.formats.index import index, single

    suffix = SUFFIX[format]
    files = {folder / f"{page.name}{suffix}": _rendered(single(done, page), format) for page in done.pages}
    whole = folder / f"booklet{suffix}"
    if len(done.pages) > 1:
        files[whole] = _rendered(done, format)
    for name, text in index(done, [path.name for path in files], format).items():
        files[folder / name] = text.encode("utf-8")
    _write(files)
    for path in files:
        console().print(str(path), markup=False)


def _write(files: Mapping[Path, bytes]) -> None:
    """Writes all or nothing: everything is rendered before."""
    try:
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
        write_all(files)
    except OSError as error:
        raise BadInput(f"{error.filename}: {error.strerror}") from None
