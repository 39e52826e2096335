"""Message files: nothing missing, nothing idle, every mistake in them found with its place; and the grammar of lists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.cli.check import _mixes
from avalon_logic.configuration import Configuration
from avalon_logic.library import open_model, rulebook_library
from avalon_logic.referee.booklet import booklet, card, gather, words_for
from avalon_logic.referee.demands import check_language, check_messages, demands
from avalon_logic.referee.messages import LANGUAGES, Words, message_data, message_source
from rules_dsl import Diagnostic
from rules_dsl.source import SourceText, Span


def _wanted() -> dict[tuple[str, ...], Span]:
    library = rulebook_library()
    found: dict[tuple[str, ...], Span] = {}
    for game, modules in _mixes(()):
        for demand in demands(open_model(game, modules), library):
            found.setdefault(demand.path, demand.span)
    return found


def _check(language: str, change: tuple[str, str]) -> list[Diagnostic]:
    """What is found when one stretch of a language's message file reads otherwise."""
    text = message_source(language)
    assert text.count(change[0]) == 1
    source = SourceText(text.replace(*change), text.name)
    games = frozenset(rulebook_library().games)
    return check_language(language, source, tomllib.loads(source), _wanted(), games)


def test_the_shipped_message_files_are_complete_and_without_idle_lines() -> None:
    library = rulebook_library()
    models = [open_model(game, modules) for game, modules in _mixes(())]
    assert [d.render() for d in check_messages(models, library)] == []


@pytest.mark.parametrize(
    ("language", "line", "file", "message"),
    [
        ("fr", 'oberon = "Obéron"\nresistance = "Membre', "oberon.rules", "'roles.oberon'"),
        ("es", 'vote = "Votación"\n', "core.rules", "'phases.vote'"),
        ("fr", 'victim = "désigne un joueur comme étant Merlin"\n', "avalon.rules", "'choices.victim'"),
        ("es", 'holder = "quien tiene la Dama"\n', "lady.rules", "'who.holder'"),
        ("fr", '"1 to 5" = "de 1 à 5"\n', "avalon_2021.rules", '"1 to 5"'),
        ("es", 'fails_needed = "Fracasos necesarios"\n', "messages/en.toml", "'words.fails_needed'"),
        ("en", 'none = "a player passes the wrong loyalty card"\n', "lady.rules", "'wins.lady.none'"),
    ],
)
def test_a_missing_message_is_reported_where_it_is_needed(
    language: str, line: str, file: str, message: str
) -> None:
    kept = line.split("\n", 1)[1] if line.startswith("oberon") else ""
    (found,) = _check(language, (line, kept))
    assert found.code == "M001"
    assert message in found.message
    assert found.span.file == file


@pytest.mark.parametrize(
    ("language", "before", "added", "message"),
    [
        ("fr", "[roles]\n", 'gawain = "Gauvain"', "'roles.gawain'"),
        ("es", "[texts]\n", '"no such text" = "nada"', '"no such text"'),
        ("fr", "[words]\n", 'spare = "de trop"', "'words.spare'"),
        ("fr", "[nouns]\n", 'sword = "épée"', "{sword}"),
        ("es", "[phases]\n", '"vote@chess" = "Jaque"', "'chess'"),
        ("fr", "[happens]\n", 'battle = "on se bat"', "'battle'"),
    ],
)
def test_an_idle_message_is_reported_where_it_stands(
    language: str, before: str, added: str, message: str
) -> None:
    found = _check(language, (before, f"{before}{added}\n"))
    if (
        message is None
    ):  # English is the measure of the tables' own words; the next test sees to it that all are used
        assert found == []
        return
    (one,) = found
    assert one.code == "M002"
    assert message in one.message
    assert one.span.excerpt()[0] == added


def test_a_message_with_half_its_forms_is_reported() -> None:
    line = 'fails_shown = { one = "{n} échec", other = "{n} échecs" }'
    (found,) = _check("fr", (line, 'fails_shown = { one = "{n} échec" }'))
    assert found.code == "M003"
    assert found.span.excerpt()[0].startswith("fails_shown")


HERALD = """module herald "Herald" for avalon {
  public herald: Player
  extend first_leader { herald := left(leader) }
  extend reveal { show omens to p in Player where role[p] == merlin: players >= 7 }
  phase omen before aftermath {
    herald may choose guest: Player public
    each p in Player chooses bows: Bool public
      require side(p) == good implies bows "the good bow"
    continue
  }
}
"""


def test_every_english_word_of_the_tables_is_used_somewhere(tmp_path: Path) -> None:
    book = tmp_path / "herald.rules"
    book.write_text(HERALD)
    used: set[tuple[str, ...]] = set()
    everybody = ("merlin", "percival", "assassin", "mordred", "morgana", "oberon")
    nights = [
        Configuration("avalon", 10, ("lady", "targeting"), everybody),
        Configuration(
            "avalon", 5, ("lady",), (), {"merlin_in_play": "optional_naming", "wrong_card": "nobody_wins"}
        ),
        Configuration("avalon_2021", 7, rulings={"fourth_quest": "attempt", "repeat_quest": "again"}),
        Configuration(
            "avalon_2021", 7, rulings={"quest_order": "from_start", "after_rejection": "same_quest"}
        ),
        Configuration("avalon", 5, rulings={"fifth_team": "no_vote", "vote_track": "keep"}),
        Configuration("avalon", 5, rulings={"vote_track": "keep"}),
        Configuration("avalon", 5, (), ("merlin", "assassin", "mordred"), {"called_minions": "plain_only"}),
        Configuration("resistance", 7, ("targeting",)),
        Configuration(
            "avalon", 7, ("lady", "targeting"), rulings={"lady_after": "by_space", "fifth_gate": "no_gate"}
        ),
        Configuration("resistance", 5, ("blind_spies",)),
        Configuration("avalon", 7, ("herald",), paths=(book,)),
    ]
    for configuration in nights:
        words = words_for(configuration, "en")
        monkey = pytest.MonkeyPatch()
        monkey.setattr("avalon_logic.referee.booklet.words_for", lambda c, language, words=words: words)
        night = gather(configuration, [configuration.players], strict=True)
        booklet(night, "en")
        card(night, "en")
        monkey.undo()
        used |= words.used
    # said by the commands, for a record, several counts, or a rulebook without messages
    elsewhere = {
        ("script", "pause"), ("script", "finished"), ("titles", "common"), ("titles", "REF-16"),
        ("words", "seat"), ("words", "knows_role"), ("words", "was_shown"), ("words", "worlds"), ("words", "knows"),
        ("words", "spectator"), ("words", "not_written"), ("words", "shown_nobody"),
        ("words", "left_out"), ("words", "fallback"),
        ("words", "players_listed"), ("words", "columns_are_counts"), ("language", "name"),
        ("words", "severity_error"), ("words", "severity_warning"),
    }  # fmt: skip
    own = ("language", "words", "titles", "script")
    there = {(section, key) for section in own for key in message_data("en")[section]}
    assert sorted(there - used - elsewhere) == []


def test_check_reports_a_message_that_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = message_source("fr")
    cut = SourceText(text.replace('"at any time" = "à tout moment"\n', ""), text.name)
    real_source, real_data = message_source, message_data
    monkeypatch.setattr(
        "avalon_logic.referee.demands.message_source", lambda name: cut if name == "fr" else real_source(name)
    )
    monkeypatch.setattr(
        "avalon_logic.referee.demands.message_data",
        lambda name: tomllib.loads(cut) if name == "fr" else real_data(name),
    )
    assert main(["check"]) == 2
    printed = capsys.readouterr().out
    assert 'there is no message for "at any time"' in printed
    assert "targeting.rules:" in printed


def test_placeholders_are_the_same_in_all_languages() -> None:
    """A number or name a sentence has in one language it has in the others; nouns differ, as languages do."""
    nouns = {key.split("@")[0] for language in LANGUAGES for key in message_data(language)["nouns"]}

    def holes(language: str, section: str, key: str) -> set[str]:
        value = message_data(language)[section][key]
        text = " ".join(value.values()) if isinstance(value, dict) else value
        return {h for h in re.findall(r"\{(\w+)\}", text) if h.lower() not in nouns}

    for section in ("words", "script"):
        for key in message_data("en")[section]:
            if "@" not in key:
                assert holes("en", section, key) == holes("fr", section, key) == holes("es", section, key), (
                    key
                )


@pytest.mark.parametrize(
    ("language", "items", "said"),
    [
        ("en", ["a", "b", "c"], "a, b and c"),
        ("fr", ["a", "b", "c"], "a, b et c"),
        ("es", ["a", "b", "c"], "a, b y c"),
        ("es", ["Morgana", "Isolda"], "Morgana e Isolda"),
        ("es", ["agua", "hielo"], "agua y hielo"),
        ("es", ["uno"], "uno"),
    ],
)
def test_lists_end_as_the_language_has_it(language: str, items: list[str], said: str) -> None:
    assert Words(language).listed(items) == said


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ["0 fails", "1 fail", "2 fails"]),
        ("fr", ["0 échec", "1 échec", "2 échecs"]),
        ("es", ["0 fracasos", "1 fracaso", "2 fracasos"]),
    ],
)
def test_numbers_agree_with_their_nouns(language: str, said: list[str]) -> None:
    assert [Words(language).say("words", "fails_shown", n=n) for n in range(3)] == said


def test_each_game_has_the_words_of_its_own_book() -> None:
    texts = {}
    for game in ("avalon", "resistance"):
        for language in ("fr", "es"):
            night = gather(Configuration(game, 7), [7], strict=True)
            made = booklet(night, language)
            texts[game, language] = " ".join(
                cell for p in made.pages for t in p.tables for row in (t.columns, *t.rows) for cell in row
            )
    for word in ("Quête", "Roi", "Sbire", "Équipe"):
        assert word in texts["avalon", "fr"]
        assert word not in texts["resistance", "fr"]
    for word in ("Mission", "Leader", "Espion", "Escouade"):
        assert word in texts["resistance", "fr"]
        assert word not in texts["avalon", "fr"]
    assert "gesta" in texts["avalon", "es"]
    assert "Esbirro" in texts["avalon", "es"]
    assert "gesta" not in texts["resistance", "es"]
    assert "misión" in texts["resistance", "es"]


def test_a_rulebook_without_messages_speaks_its_own_words_and_says_so(tmp_path: Path) -> None:
    book = tmp_path / "galahad.rules"
    book.write_text(
        'module galahad "Galahad" for avalon {\n'
        "  extend enum Role { galahad(good) }\n"
        '  ruling galahad_rides "Does Galahad ride?" { yes_he_does "he does" no_he_walks "he walks" } default yes_he_does\n'
        "}\n"
    )
    configuration = Configuration("avalon", 7, (), ("merlin", "assassin", "galahad"), {}, (book,))
    made = booklet(gather(configuration, [7], strict=True), "fr")
    assert any("galahad" in cell for row in made.pages[0].tables[0].rows for cell in row)
    (note,) = made.notes
    assert note.startswith("Ce livret de règles n'a pas de textes en français pour :")
    assert "“Does Galahad ride?”" in note
    assert main(["check", str(book)]) == 0


def test_a_look_without_messages_goes_by_its_name(tmp_path: Path) -> None:
    book = tmp_path / "scouts.rules"
    book.write_text(
        'module scouts "Scouts" for avalon {\n'
        "  extend reveal { show wolves to p in Player where role[p] == servant: { q in Player | role[q] == minion } }\n"
        "}\n"
    )
    configuration = Configuration("avalon", 7, ("scouts",), paths=(book,))
    (table,) = booklet(gather(configuration, [7], strict=True), "en", {"REF-04"}).pages[0].tables
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert rows["Loyal Servant of Arthur"]["Minion of Mordred"] == "W"
    assert "W: seen wolves" in table.notes[0]


def test_no_sentence_is_left_in_english() -> None:
    """A table in French or Spanish shares no cell of several words with the English one."""
    everybody = ("merlin", "percival", "assassin", "mordred", "morgana", "oberon")
    night = gather(Configuration("avalon", 10, ("lady", "targeting"), everybody), [10], strict=True)

    def sentences(language: str) -> set[str]:
        made = booklet(night, language)
        cells = {
            c for p in made.pages for t in p.tables for row in (t.columns, *t.rows, t.notes) for c in row
        }
        return {c for c in cells if len(c.split()) > 1 and not re.fullmatch(r"[A-Z0-9, -]+", c)}

    assert sentences("en") & sentences("fr") == set()
    assert sentences("en") & sentences("es") == set()
