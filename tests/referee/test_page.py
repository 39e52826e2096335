"""docs/tables.md tells the truth: its examples print what it shows, its commands run, its schema is that of the JSON."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.configuration import Configuration
from avalon_logic.referee.booklet import booklet, gather
from avalon_logic.referee.formats.json import to_json
from avalon_logic.referee.plan import plan

PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```\n\$ avalon (.*?)\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [
    line.split("#")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("avalon") and "my.rules" not in line
]


@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=[command for command, _ in SHOWN])
def test_an_example_prints_what_the_page_shows(
    command: str, shown: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(shlex.split(command)) == 0
    assert capfdbinary.readouterr().out.decode() == shown


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(shlex.split(command)[1:]) == 0
    assert capfdbinary.readouterr().out


def test_the_page_lists_every_table() -> None:
    assert set(re.findall(r"^\| (REF-\d\d) \|", PAGE, re.MULTILINE)) == {spec.id for spec in plan().tables}


def test_the_page_names_every_field_of_the_json() -> None:
    night = gather(Configuration("avalon", 7, ("lady", "targeting")), [7], strict=True)
    schema = dict(re.findall(r"^\| (REF-\d\d) \| (`.*)\|$", PAGE, re.MULTILINE))
    for page in json.loads(json.dumps(to_json(booklet(night, "en"))))["pages"]:
        for table in page["tables"]:
            data = table["data"][0] if isinstance(table["data"], list) else table["data"]
            fields = () if table["id"] == "REF-04" else data
            for field in fields:
                assert field in schema[table["id"]], (table["id"], field)
