"""From a table's agreement to pages: configurations and a language in, a booklet of referee tables out.

There is a page for each number of players and one for what holds at all of them; a card is a single page for one
game night.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from avalon_logic.configuration import Configuration, Refused, describe_check, examine, load, resolve
from avalon_logic.library import rulebook_library
from avalon_logic.records import Record
from avalon_logic.referee import game_tables, knowledge, player_tables
from avalon_logic.referee.document import Booklet, Page, Table
from avalon_logic.referee.facts import Facts
from avalon_logic.referee.messages import Words
from avalon_logic.referee.plan import TableSpec, plan
from avalon_logic.referee.stage import missing_names
from rules_dsl import BadParameter, Settled

OF_PLAYERS: Mapping[str, Callable[[str, Facts, Words], Table]] = {
    "setup": player_tables.setup,
    "board": player_tables.board,
    "votes": player_tables.votes,
    "outcomes": player_tables.outcomes,
    "sight": player_tables.sight,
    "script": player_tables.script,
    "uses": player_tables.uses,
}
OF_GAME: Mapping[str, Callable[[str, Facts, Words], Table]] = {
    "actions": game_tables.actions,
    "endings": game_tables.endings,
    "open_quests": game_tables.open_quests,
}
CARD = ("setup", "uses", "script", "board", "votes", "endings", "rulings")
MOST_ON_CARD = 8  # rows; where a table has more ways than that, the rulings must do
ON_CARD: Mapping[str, Callable[[Table], Table]] = {
    "rulings": game_tables.agreed,
    "endings": game_tables.brief,
}


@dataclass(frozen=True)
class Night:
    """The same agreement at several numbers of players. `refused` are those the rules refuse, with the reason."""

    configuration: Configuration
    facts: Mapping[int, Facts]
    examined: Mapping[int, Settled]
    refused: Mapping[int, str]

    @property
    def first(self) -> Facts:
        return next(iter(self.facts.values()))


@lru_cache(maxsize=64)
def _facts(key: tuple[object, ...], settled: _Settled) -> Facts:
    return Facts(settled.settled)


@dataclass(frozen=True, eq=False)
class _Settled:
    """Carries a settled game through the cache without being part of its key."""

    settled: Settled

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Settled)


def forget() -> None:
    """Works everything out afresh the next time it is asked for."""
    _facts.cache_clear()


def facts_of(configuration: Configuration) -> Facts:
    """The facts of a configuration, worked out once."""
    settled = load(configuration)
    missing = missing_names(settled)
    if missing:
        named = ", ".join(missing)
        raise BadParameter(
            f"{configuration.game} has no {named}: there are no referee tables for such a game"
        )
    return _facts(configuration.key(), _Settled(settled))


def gather(configuration: Configuration, counts: Sequence[int], strict: bool) -> Night:
    """Sets up the game at each number of players; `strict` raises `Refused` instead of leaving one out."""
    facts: dict[int, Facts] = {}
    examined: dict[int, Settled] = {}
    refused: dict[int, str] = {}
    last: Exception | None = None
    for players in counts:
        c = replace(configuration, players=players)
        try:
            examined[players] = examine(c)
            facts[players] = facts_of(c)
        except (Refused, BadParameter) as error:
            if strict:
                raise
            last = error
            checks = getattr(error, "checks", ())
            refused[players] = "; ".join(describe_check(x) for x in checks) or str(error)
    if not facts:
        assert last is not None
        raise last
    return Night(configuration, facts, examined, refused)


def words_for(configuration: Configuration, language: str) -> Words:
    """The language, for this game."""
    model, _ = resolve(configuration)
    return Words(language, model.family)


def specs(night: Night, only: Collection[str] | None, recorded: bool = False) -> tuple[TableSpec, ...]:
    """The tables this game has, of those asked for."""
    choices = night.first.stage.choices
    return tuple(
        spec
        for spec in plan().tables
        if (only is None or spec.id in only)
        and (spec.choice is None or spec.choice in choices)
        and (recorded or not spec.record)
    )


def booklet(
    night: Night, language: str, only: Collection[str] | None = None, record: Record | None = None
) -> Booklet:
    """All tables asked for (None: all there are) at every number of players; with a record, what its seats know."""
    words = words_for(replace(night.configuration, players=next(iter(night.facts))), language)
    wanted = specs(night, only, record is not None)
    pages = []
    for players, facts in night.facts.items():
        made = tuple(
            knowledge.table(s.id, record, facts.settled.model, words)
            if record is not None and s.record
            else OF_PLAYERS[s.kind](s.id, facts, words)
            for s in wanted
            if s.scope == "players"
        )
        if made:
            pages.append(_page(night, facts, words, players, made))
    common = [t for s in wanted if s.scope == "game" for t in _game_tables(night, s, words)]
    if common:
        title = words.say("titles", "common") if len(night.facts) > 1 else words.say("titles", "rules")
        pages.append(Page("common", title, _subtitle(night, words), None, tuple(common)))
    notes = [
        words.say(
            "words", "left_out", count=words.say("words", "players", n=n), reason=_refusal(night, n, words)
        )
        for n in night.refused
    ]
    return Booklet(
        language,
        f"{words.say('titles', 'booklet')} – {_game(night, words)}",
        words.say("titles", "contents"),
        tuple(pages),
        (*notes, *_fallbacks(words)),
    )


def verdicts(configuration: Configuration, counts: Sequence[int], language: str) -> tuple[Booklet, bool]:
    """Only what the set-up checks say, also for a table the rules refuse; and whether they refuse one."""
    examined = {n: examine(replace(configuration, players=n)) for n in counts}
    model, _ = resolve(replace(configuration, players=counts[0]))
    words = Words(language, model.family)
    spec = next(s for s in plan().tables if s.kind == "checks")
    table = game_tables.checks(spec.id, model, examined, words)
    game = words.text(model.text)
    page = Page("common", table.title, game, None, (table,))
    title = f"{words.say('titles', 'booklet')} – {game}"
    made = Booklet(language, title, words.say("titles", "contents"), (page,), tuple(_fallbacks(words)))
    return made, any(s.errors for s in examined.values())


def card(night: Night, language: str) -> Booklet:
    """One page for a game night: set-up, script, board, votes, the Lady's moments, endings, what was agreed on."""
    (players,) = night.facts
    facts = night.first
    words = words_for(replace(night.configuration, players=players), language)
    by_kind = {s.kind: s for s in specs(night, None)}
    tables = []
    for kind in CARD:
        spec = by_kind.get(kind)
        if spec is None:
            continue
        if kind in OF_PLAYERS:
            made = OF_PLAYERS[kind](spec.id, facts, words)
            if len(made.rows) <= MOST_ON_CARD or made.kind == "script":
                tables.append(made)
        else:
            tables += [ON_CARD[kind](t) for t in _game_tables(night, spec, words)]
    page = replace(_page(night, facts, words, players, tuple(tables)), name="card")
    title = f"{words.say('titles', 'card')} – {_game(night, words)}"
    return Booklet(language, title, words.say("titles", "contents"), (page,), tuple(_fallbacks(words)), True)


def _game_tables(night: Night, spec: TableSpec, words: Words) -> list[Table]:
    first = next(iter(night.facts))
    model, _ = resolve(replace(night.configuration, players=first))
    if spec.kind == "checks":
        return [game_tables.checks(spec.id, model, night.examined, words)]
    if spec.kind == "rulings":
        return [game_tables.rulings(spec.id, model, night.examined[first], words)]
    made = [(n, OF_GAME[spec.kind](spec.id, facts, words)) for n, facts in night.facts.items()]
    return game_tables.same_for_all(made, words)


def _page(night: Night, facts: Facts, words: Words, players: int, tables: tuple[Table, ...]) -> Page:
    name = f"players-{players:02d}"
    return Page(name, words.say("words", "players", n=players), _subtitle(night, words), players, tables)


def _game(night: Night, words: Words) -> str:
    return words.text(night.first.settled.model.text)


def _subtitle(night: Night, words: Words) -> str:
    """The game and the modules in it; one that brings a role goes by the role."""
    lib = rulebook_library(night.configuration.paths)
    named = [name for name in night.first.settled.model.modules if name not in night.first.stage.deck]
    modules = [words.text(lib.modules[name].text or name) for name in named]
    with_ = f" · {words.listed(modules)}" if modules else ""
    return _game(night, words) + with_


def _refusal(night: Night, players: int, words: Words) -> str:
    settled = night.examined.get(players)
    if settled is None or not settled.errors:
        return night.refused[players]
    return words.say("language", "semicolon").join(
        f"{words.text(c.text)} ({', '.join(c.origin.cites)})" for c in settled.errors
    )


def _fallbacks(words: Words) -> list[str]:
    if not words.fallbacks:
        return []
    language = words.say("language", "name")
    return [
        words.say("words", "fallback", language=language, names=", ".join(f"“{t}”" for t in words.fallbacks))
    ]
