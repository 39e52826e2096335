"""Whatever text the parser is fed, it gives a rulebook or diagnostics with a place; never anything else, never slowly."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import avalon_logic
from rules_dsl import RulebookError, UnknownName, build_model, compose, library, parse
from rules_dsl.python import compile_python
from rules_dsl.settle import settle

BOOKS = [
    p.read_text(encoding="utf-8")
    for p in sorted((Path(avalon_logic.__file__).parent / "rulebooks").glob("*.rules"))
]
WORDS = sorted({w for book in BOOKS for w in book.split()})


def read(text: str) -> None:
    """Parses, composes and checks; only the language's own errors may come out."""
    try:
        book = parse(text, "text")
        found = library([book])
        for game in book.games:
            build_model(compose(found, game.name, [m.name for m in book.modules]))
    except UnknownName:
        return
    except RulebookError as error:
        for diagnostic in error.diagnostics:
            assert diagnostic.code.startswith("E")
            assert diagnostic.span.line >= 1
            assert diagnostic.span.column >= 1
            assert "^" in diagnostic.render()


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_a_rulebook_or_diagnostics(text: str) -> None:
    read(text)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_any_row_of_words_gives_a_rulebook_or_diagnostics(words: list[str]) -> None:
    read("game g { players 2..3 " + " ".join(words) + " }")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(BOOKS), st.integers(0, 10_000), st.integers(0, 40), st.sampled_from(["", *WORDS]))
def test_a_damaged_rulebook_gives_diagnostics(book: str, at: int, length: int, put: str) -> None:
    at %= len(book)
    read(book[:at] + put + book[at + length :])


@pytest.mark.parametrize(
    "text",
    [
        "game g { def f = " + "(" * 5000 + "1" + ")" * 5000 + " }",
        "game g { players 2..3 def f = " + " + ".join(["1"] * 14_000) + " }",
        "game g { players 2..3 def f = " + "not " * 5000 + "true }",
        "game g { players 2..3 def f = " + "-" * 5000 + "1 }",
        "game g { players 2..3 def f = " + "if true then 1 else " * 3000 + "1 }",
        "game g { players 2..3 start a phase a { " + "if true { draw } else " * 2000 + "{ draw } } }",
        "game g { players 2..3 public x: " + "Bool -> " * 3000 + "Bool }",
        "game g { players 2..3 table t[players] { " + " ".join(f"{i}: {i}" for i in range(4_000)) + " } }",
        "game g { " + "public x: Bool " * 3_900 + "}",
        "// " + "x" * 1_000_000,
        "\0" * 1000,
    ],
    ids=["brackets", "sum", "nots", "minuses", "ifs", "branches", "types", "table", "twins", "huge", "nul"],
)
def test_deep_and_huge_texts_end_in_an_error_within_a_second(text: str) -> None:
    started = time.process_time()  # other work on the machine does not count
    with pytest.raises(RulebookError):
        book = parse(text)
        build_model(compose(library([book]), "g"))
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    "name",
    [
        "__import__",
        "__class__",
        "eval",
        "exec",
        "open",
        "lambda_",
        "self",
        "os",
        "__builtins__",
        "import_",
        "f_",
    ],
)
def test_names_that_mean_something_in_python_are_only_names(name: str) -> None:
    text = f"""game g {{
      players 2..2  enum E {{ {name}, other }}  result E  start go  public {name}_v: E
      phase go {{ chance chooses {name}_c: E public  {name}_v := {name}  win {name}_v }}
    }}"""
    model = settle(build_model(compose(library([parse(text)]), "g")), {"players": 2}).model
    engine = compile_python(model)
    state = engine.step(engine.start().state, ((-1, "other"),)).state
    assert state.result == name
    assert name not in engine.source


@pytest.mark.parametrize(
    "text",
    [
        'game g { players 2..2 setup note unless true "}} import os" start a phase a { draw } }',
        'game g { players 2..2 setup note unless false "{__import__(1)}\'\\"" start a phase a { draw } }',
        "game g { players 2..2 def f = 'x' }",
        "game gаme { }",
    ],
)
def test_quotes_and_lookalikes_never_become_code(text: str) -> None:
    read(text)
