"""Is every message there, and is none idle? Rulebooks and message files in, placed diagnostics out.

A message that a rulebook needs and a language lacks is reported where the rulebook names the thing; a message nobody
needs where it stands in the message file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from avalon_logic.configuration import ROLE
from avalon_logic.referee.actions import name_of, names_in
from avalon_logic.referee.endings import declared_endings
from avalon_logic.referee.messages import LANGUAGES, message_data, message_source
from rules_dsl import Diagnostic, Library, Model
from rules_dsl import model as m
from rules_dsl.source import SourceText, Span
from rules_dsl.syntax import EnumDecl
from rules_dsl.types import PlayerType
from rules_dsl.walk import statements

MISSING, IDLE, MALFORMED = "M001", "M002", "M003"

# sections keyed by names and texts of the rulebooks; every other section holds the tables' own words
FROM_RULEBOOKS = (
    "roles",
    "members",
    "phases",
    "choices",
    "who",
    "variables",
    "shows",
    "speeches",
    "wins",
    "texts",
)
# what may be there for a name of the rulebooks, and need not be
OPTIONAL = ("happens", "roles_the", "groups")


@dataclass(frozen=True)
class Demand:
    """A message some rulebook needs, and the place that needs it."""

    path: tuple[str, ...]
    span: Span


def demands(model: Model, library: Library) -> Iterator[Demand]:
    """The messages the tables need for a composed game."""
    for text, span in _texts(model, library):
        if text:
            yield Demand(("texts", text), span)
    for name, member, span in _members(model, library):
        yield Demand(("roles", member) if name == ROLE else ("members", name, member), span)
    for name, phase in model.phases.items():
        yield Demand(("phases", name), phase.origin.span)
        for choice in phase.choices:
            yield from _choice(choice)
        for statement in statements(phase.body):
            if isinstance(statement, m.Show):
                yield Demand(("shows", statement.name, "mark"), statement.origin.span)
                yield Demand(("shows", statement.name, "seen_as"), statement.origin.span)
    for phase_name, result in declared_endings(model):
        yield Demand(("wins", phase_name, result), model.phases[phase_name].origin.span)
    for name, speech in model.speeches.items():
        yield Demand(("speeches", name), speech.origin.span)
    drawn = {c.variable for p in model.phases.values() for c in p.choices}
    for name, variable in model.variables.items():
        if isinstance(variable.type, PlayerType) and variable.kind == "state" and name not in drawn:
            yield Demand(("variables", name), variable.origin.span)


def _choice(choice: m.Choice) -> Iterator[Demand]:
    span = choice.origin.span
    yield Demand(("choices", choice.variable), span)
    chooser = choice.chooser
    expr = chooser.who if chooser.kind == "player" else chooser.domain
    if expr is not None and chooser.kind != "chance":
        yield Demand(("who", name_of(expr)), span)
    for name in names_in(choice.audience.to):
        yield Demand(("who", name), span)


def _texts(model: Model, library: Library) -> Iterator[tuple[str, Span]]:
    yield model.text, library.games[model.name].span
    for name in model.modules:
        yield library.modules[name].text, library.modules[name].span
    for param in model.params.values():
        if param.kind == "ruling":
            for text in (param.text, *(text for _, text in param.alternatives)):
                yield text, param.origin.span
    for check in model.checks:
        yield check.text, check.origin.span
    for phase in model.phases.values():
        for choice in phase.choices:
            for requirement in choice.requires:
                yield requirement.text, requirement.origin.span


def _members(model: Model, library: Library) -> Iterator[tuple[str, str, Span]]:
    """The members of the game's enums, with the place that declares them; a ruling's alternatives have texts."""
    layers = [library.games[name] for name in model.family]
    items = [i for g in layers for i in g.items]
    for item in (*items, *(i for name in model.modules for i in library.modules[name].items)):
        if isinstance(item, EnumDecl):
            for member in item.members:
                yield item.name, member.name, member.span


def check_messages(
    models: Iterable[Model], library: Library, languages: Iterable[str] = LANGUAGES
) -> list[Diagnostic]:
    """What is missing from the message files, and what in them is idle."""
    wanted: dict[tuple[str, ...], Span] = {}
    for model in models:
        for demand in demands(model, library):
            wanted.setdefault(demand.path, demand.span)
    found: list[Diagnostic] = []
    for language in languages:
        source, data = message_source(language), message_data(language)
        found += check_language(language, source, data, wanted, frozenset(library.games))
    return found


def check_language(
    language: str,
    source: SourceText,
    data: Mapping[str, Any],
    wanted: Mapping[tuple[str, ...], Span],
    games: frozenset[str],
) -> list[Diagnostic]:
    """One language: its messages against what the rulebooks want and what the tables say in English."""
    there = dict(_leaves(data))
    plain = {_plain(path) for path in there}
    found = []
    for path, span in wanted.items():
        if path not in plain and not (path[0] == "texts" and language == "en"):
            found.append(
                Diagnostic(
                    MISSING,
                    f"there is no message for {_shown(path)} in {source.name}",
                    span,
                    f'add a line for "{path[-1]}" to the section [{".".join(path[:-1])}]',
                )
            )
    found += _own_words(language, source, plain)
    names = {path[-1] for path in wanted} | {p.removesuffix("_the") for p in ("evil_the", "good_the")}
    for path, value in there.items():
        bare = _plain(path)
        if "@" in path[-1] and path[-1].split("@")[1] not in games:
            found.append(_idle(source, path, f"no game is called '{path[-1].split('@')[1]}'"))
        elif bare[0] in FROM_RULEBOOKS and bare not in wanted:
            found.append(_idle(source, path, f"no rulebook needs the message {_shown(path)}"))
        elif bare[0] in OPTIONAL and bare[-1].removesuffix("_the") not in names:
            found.append(_idle(source, path, f"no rulebook has anything called '{bare[-1]}'"))
        elif bare[0] == "nouns" and not _noun_used(source, bare[-1]):
            found.append(_idle(source, path, f"no message has the noun {{{bare[-1]}}}"))
        if isinstance(value, Mapping) and set(value) != {"one", "other"}:
            found.append(
                Diagnostic(
                    MALFORMED,
                    f"{_shown(path)} must be a text, or have the forms 'one' and 'other'",
                    _place(source, path),
                )
            )
    return found


def _own_words(language: str, source: SourceText, plain: set[tuple[str, ...]]) -> list[Diagnostic]:
    """The tables' own words: every language must have those English has, and no others."""
    english = message_source("en")
    reference = {_plain(p) for p, _ in _leaves(message_data("en"))}

    def own(paths: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
        return {p for p in paths if p[0] not in (*FROM_RULEBOOKS, *OPTIONAL, "nouns")}

    lacking = [
        Diagnostic(
            MISSING,
            f"there is no message for {_shown(path)} in {source.name}",
            _place(english, path),
            f"translate this line of {english.name}",
        )
        for path in sorted(own(reference) - own(plain))
    ]
    return lacking + [
        _idle(source, path, f"no table uses the message {_shown(path)}")
        for path in sorted(own(plain) - own(reference))
    ]


def _leaves(data: Mapping[str, Any], ahead: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in data.items():
        if isinstance(value, Mapping) and not set(value) & {"one", "other"}:
            yield from _leaves(value, (*ahead, key))
        else:
            yield (*ahead, key), value


def _plain(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path without the game a message is for."""
    return path if path[0] == "texts" else (*path[:-1], path[-1].split("@")[0])


def _shown(path: tuple[str, ...]) -> str:
    return f'"{path[1]}"' if path[0] == "texts" else f"'{'.'.join(path)}'"


def _noun_used(source: SourceText, noun: str) -> bool:
    return f"{{{noun}}}" in source or f"{{{noun[0].upper()}{noun[1:]}}}" in source


def _idle(source: SourceText, path: tuple[str, ...], message: str) -> Diagnostic:
    return Diagnostic(IDLE, message, _place(source, path), "take the line out, or correct the key")


def _place(source: SourceText, path: tuple[str, ...]) -> Span:
    """Where a key stands in a message file."""
    section = ".".join(path[:-1])
    head = re.search(rf"^\[{re.escape(section)}\]$", source, re.MULTILINE)
    start = head.end() if head else 0
    key = re.escape(path[-1])
    line = re.compile(rf'^("{key}"|{key})\s*=', re.MULTILINE).search(source, start)
    return Span(source, line.start(1), line.end(1)) if line else Span(source, start, start)
