"""Phases put before or after others: the phases as declared in, the same led through those put between them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from rules_dsl import syntax as s
from rules_dsl.diagnostics import Note, fail
from rules_dsl.rewrite import next_statements, redirected


@dataclass(frozen=True)
class Part:
    """A declaration and the game or module it comes from."""

    item: s.Item
    module: str


@dataclass(frozen=True)
class ComposedPhase:
    declared: s.PhaseDecl
    module: str
    choices: tuple[tuple[s.Choice, str], ...]
    body: tuple[tuple[s.Statement, str], ...]
    goes_on: str | None  # where `continue` and a false `when` lead


_Group = list[tuple[str, s.PhaseDecl]]  # phases put in one place, in order, each with its module


def place_phases(
    inserted: Sequence[tuple[str, s.PhaseDecl]],
    phases: dict[str, ComposedPhase],
    parts: dict[str, Part],
    ordered: Callable[[str, str], bool],
) -> None:
    """Routes the phases that were put before or after others; `ordered` says whether one module comes before another."""
    groups: dict[tuple[str, str], _Group] = {}
    for module, item in inserted:
        assert item.placement is not None
        assert item.anchor is not None
        if item.anchor not in phases:
            raise fail("E118", f"there is no phase '{item.anchor}' to stand {item.placement}", item.span)
        group = groups.setdefault((item.placement, item.anchor), [])
        if group and not ordered(group[-1][0], module):
            raise fail(
                "E119",
                f"'{group[-1][0]}' and '{module}' both put a phase {item.placement} '{item.anchor}'",
                item.span,
                f"say which comes first: 'module {module} ... after {group[-1][0]}'",
                [Note("the other phase:", group[-1][1].span)],
            )
        group.append((module, item))
    for (placement, anchor), group in _anchors_first(groups):
        chain = [item.name for _, item in group]
        if placement == "before":
            _reroute(phases, parts, anchor, chain[0], except_in=set(chain))
            target = anchor
        else:
            target = _only_target(phases, anchor, group[0][1])
            _reroute(phases, parts, target, chain[0], only_in={anchor})
        for name, following in zip(chain, [*chain[1:], target], strict=True):
            phases[name] = replace(phases[name], goes_on=following)


def _anchors_first(
    groups: Mapping[tuple[str, str], _Group],
) -> Iterator[tuple[tuple[str, str], _Group]]:
    """A phase put beside another that is itself put somewhere comes after that one has its place."""
    left = dict(groups)
    while left:
        unplaced = {item.name for group in left.values() for _, item in group}
        # two phases put beside each other have no place at all: that neither is reached is found later
        key = next((key for key in left if key[1] not in unplaced), next(iter(left)))
        yield key, left.pop(key)


def _only_target(phases: Mapping[str, ComposedPhase], anchor: str, item: s.PhaseDecl) -> str:
    targets = {n.phase for b, _ in phases[anchor].body for n in next_statements(b) if n.phase is not None}
    if len(targets) != 1:
        raise fail(
            "E120",
            f"phase '{anchor}' leads to {len(targets)} phases, so nothing can simply stand after it",
            item.span,
            "put the phase before one of those it leads to",
            [Note("the phase:", phases[anchor].declared.span)],
        )
    return targets.pop()


def _reroute(
    phases: dict[str, ComposedPhase],
    parts: dict[str, Part],
    target: str,
    to: str,
    except_in: Set[str] = frozenset(),
    only_in: Set[str] | None = None,
) -> None:
    for name, phase in phases.items():
        if name in except_in or (only_in is not None and name not in only_in):
            continue
        body = tuple((redirected(b, target, to), owner) for b, owner in phase.body)
        goes_on = to if phase.goes_on == target else phase.goes_on
        phases[name] = replace(phase, body=body, goes_on=goes_on)
    start = parts.get("start")
    if (
        only_in is None
        and start is not None
        and isinstance(start.item, s.StartDecl)
        and start.item.phase == target
    ):
        parts["start"] = Part(replace(start.item, phase=to), start.module)
