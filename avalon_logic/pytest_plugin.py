"""A pytest plugin: `pytest my_rules.rules` proves the properties of a rulebook, one test each.

They are proved for every game they fit and every mix of modules, or for the tables the options ask for; which these are
is printed before the tests and with every failure. Rulebooks are collected only when named on the command line, or found
on the way if the ini option `avalon_rules` is true. Nothing of the prover is imported before that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from proofs.families import Family
    from proofs.verdicts import Verdict
    from rules_dsl import Value
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
    scopes = (
        ("game", "G", "prove the properties of rulebooks only for this game"),
        ("with", "MODULE", "prove them with this module in; the others may be in or out"),
        ("without", "MODULE", "prove them with this module out"),
        ("ruling", "NAME=ALTERNATIVE", "prove them under this ruling"),
        ("property", "P", "prove only this property"),
    )
    for name, shown, what in scopes:
        group.addoption(
            f"--avalon-{name}",
            action="append",
            default=[],
            metavar=shown,
            help=f"{what} (may be given several times)",
        )
    group.addoption(
        "--avalon-players", type=int, metavar="N", help="prove them only for tables of so many players"
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


KNOWN = pytest.StashKey[set[str]]()  # the properties of all rulebooks collected


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    """A property asked for that no rulebook has must not look like one that holds."""
    known = config.stash.get(KNOWN, None)
    if known is None:
        return
    for name in config.getoption("--avalon-property"):
        if name not in known:
            raise pytest.UsageError(f"there is no property '{name}'; there are {', '.join(sorted(known))}")


def pytest_report_collectionfinish(items: Sequence[pytest.Item]) -> list[str]:
    """Which tables the verdicts to come hold for."""
    ours = [item for item in items if isinstance(item, PropertyItem)]
    return list(dict.fromkeys(f"{item.path.name}: {item.scope}" for item in ours))


class RulesFile(pytest.File):
    """A rulebook; its properties are decided together, when the first of them is run."""

    def collect(self) -> Iterable[PropertyItem]:
        found = self._families()
        known = self.config.stash.setdefault(KNOWN, set())
        known |= {name for family in found for name in family.properties}
        wanted = self.config.getoption("--avalon-property")
        many = len(found) > 1
        for family in found:
            for (
                claim
            ) in family.model.properties.values():  # the file's own, or the shipped ones if it has none
                if wanted and claim.name not in wanted:
                    continue
                name = f"{claim.name}[{family.name}]" if many else claim.name
                yield PropertyItem.from_parent(self, name=name, family=family, claim=claim)

    def _families(self) -> list[Family]:
        """What the rulebook claims, for the tables asked for."""
        from avalon_logic.cli.output import BadInput, bad_input, rulings_of
        from avalon_logic.proving import check_fixed, own_families

        option = self.config.getoption
        games = option("--avalon-game")
        try:
            fixed: dict[str, Value] = dict(rulings_of(option("--avalon-ruling")))
            if option("--avalon-players") is not None:
                fixed["players"] = option("--avalon-players")
            with bad_input():
                found = own_families(
                    (self.path,),
                    games or None,
                    modules=option("--avalon-with"),
                    without=option("--avalon-without"),
                    fixed=fixed,
                )
                if found:
                    check_fixed(found, fixed)
        except BadInput as error:
            raise self.CollectError(str(error)) from None
        if not found:
            pytest.skip(f"nothing here is about {', '.join(games) or 'a game there is'}")
        return found

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
            try:
                for verdict in prove(wanted.family.model, wanted.family.name, options):
                    known[verdict.family, verdict.name] = verdict
            except KeyboardInterrupt:
                # pytest shows what every function on the way was given: of a prover that is millions of terms
                raise KeyboardInterrupt from None
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
        from proofs.scope import full_scope

        self.scope = full_scope(family)
        self.user_properties.append(("scope", self.scope))

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
            f"  asked for: {self.scope}",
        ]
        lines += ["  " + line for line in tell_games(self.family.model, verdict)]
        return "\n".join(lines)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.claim.origin.span.line - 1, f"{self.family.name}: {self.claim.name}"
