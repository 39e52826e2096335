"""`avalon completion`: a script that lets the shell complete commands, options and file names."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from avalon_logic.cli.output import BadInput

SHELLS = ("bash", "zsh", "fish")
EPILOG = """The script is made from the commands themselves; make it anew after an upgrade.

examples:
  avalon completion bash > ~/.local/share/bash-completion/completions/avalon
  avalon completion zsh > ~/.zfunc/_avalon       with fpath+=~/.zfunc before compinit in ~/.zshrc
  avalon completion fish > ~/.config/fish/completions/avalon.fish"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(args: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise BadInput(
            "completion needs the package shtab; in the folder of the project: pip install -e '.[completion]'"
        ) from None
    from avalon_logic.cli import build_parser

    parser = build_parser()
    for action in _actions(parser):
        names = str(action.metavar)
        if "FILE" in names or "RECORD" in names:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif "DIR" in names:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    print(shtab.complete(parser, args.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
