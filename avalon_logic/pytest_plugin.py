"""A pytest plugin: `pytest my_rules.rules` proves the properties of a rulebook, one test each.

Rulebooks are collected only when named on the command line, or found on the way if the ini option `avalon_rules` is
true. Nothing of the prover is imported before that.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from proofs.families import Family
    from proofs.verdicts import Verdict
    from rules_dsl.model import Property


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("avalon", "rulebooks")
    group.addoption(
        "--avalon-seconds",
        type=float,
        default=60.0,
        metavar="S",
        help="time limit for each property of a rulebook (default 60)",
    )
    parser.addini(
        "avalon_rules", "collect the properties of .rules files found in test folders", "bool", False
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".rules":
        return None
    if not (parent.session.isinitpath(file_path) or parent.config.getini("avalon_rules")):
        return None
    made: pytest.Collector = RulesFile.from_parent(parent, path=file_path)
    return made


class RulesFile(pytest.File):
    """A rulebook; its properties are decided together, when the first of them is run."""

    def collect(self) -> Iterable[PropertyItem]:
        from avalon_logic.proving import own_families
        from rules_dsl import RulebookError, UnknownName

        try:
            found = own_families((self.path,))
        except (RulebookError, UnknownName) as error:
            raise self.CollectError(str(error)) from None
        many = len(found) > 1
        for family in found:
            for (
                claim
            ) in family.model.properties.values():  # the file's own, or the shipped ones if it has none
                name = f"{claim.name}[{family.name}]" if many else claim.name
                yield PropertyItem.from_parent(self, name=name, family=family, claim=claim)

    def verdict(self, wanted: PropertyItem) -> Verdict:
        """The verdict of one property; works out those of all selected ones of its family at once."""
        from proofs.prover import Options, prove

        known: dict[tuple[str, str], Verdict] = self.__dict__.setdefault("_verdicts", {})
        key = (wanted.family.name, wanted.claim.name)
        if key not in known:
            chosen = [
                item.claim.name
                for item in self.session.items
                if isinstance(item, PropertyItem) and item.parent is self and item.family is wanted.family
            ]
            seconds = float(self.config.getoption("--avalon-seconds"))
            options = Options(seconds=seconds, only=tuple({wanted.claim.name, *chosen}))
            for verdict in prove(wanted.family.model, wanted.family.name, options):
                known[verdict.family, verdict.name] = verdict
        return known[key]


class Unexpected(Exception):
    """A verdict the author of the property did not expect."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(verdict.how)


class PropertyItem(pytest.Item):
    """One property of a rulebook."""

    def __init__(self, family: Family, claim: Property, **given: Any) -> None:
        super().__init__(**given)
        self.family = family
        self.claim = claim

    def runtest(self) -> None:
        assert isinstance(self.parent, RulesFile)
        verdict = self.parent.verdict(self)
        if not verdict.as_expected:
            raise Unexpected(verdict)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, Unexpected):
            return super().repr_failure(excinfo, style)
        from proofs.junit import problem
        from proofs.telling import tell_games

        verdict = excinfo.value.verdict
        lines = [
            f"{self.claim.origin.span.place}: {self.claim.kind} {self.claim.name}",
            f"  {self.claim.text}",
            f"  {problem(verdict)}",
        ]
        lines += ["  " + line for line in tell_games(self.family.model, verdict)]
        return "\n".join(lines)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.claim.origin.span.line - 1, f"{self.family.name}: {self.claim.name}"
