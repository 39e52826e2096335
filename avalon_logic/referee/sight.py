"""Who sees whom, and the reveal as steps to read aloud: found by dealing and looking at what the rules show to whom.

How a look is performed follows from who looks and who is seen: a player who is seen without looking has to raise a
thumb; in a mutual look players find each other with open eyes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from avalon_logic.referee.stage import Stage, be_clear
from rules_dsl import model as m
from rules_dsl.play import Observation
from rules_dsl.types import PlayerType, SetType
from rules_dsl.walk import statements

DEALS = 6  # seats are renamed this often, to see that what is shown depends on roles only


@dataclass(frozen=True)
class Look:
    """One `show` of the rules, by roles: who looks, who is seen by whom."""

    show: str
    pairs: frozenset[tuple[str, str]]
    lookers: tuple[str, ...]
    seen: tuple[str, ...]

    @property
    def thumbs(self) -> tuple[str, ...]:
        """Those who are seen though they do not look."""
        return tuple(role for role in self.seen if role not in self.lookers)


@dataclass(frozen=True)
class Telling:
    """One `show` of something else than players, such as a side: nobody can look at it, so somebody has to show it."""

    show: str
    lookers: tuple[str, ...]


@dataclass(frozen=True)
class Sight:
    """Who learns what of whom before the first round; `told` is what is shown besides players."""

    roles: tuple[str, ...]
    looks: tuple[Look, ...]
    told: tuple[Telling, ...] = ()

    def shows(self, looker: str, seen: str) -> tuple[str, ...]:
        """Under which names the one sees the other."""
        return tuple(look.show for look in self.looks if (looker, seen) in look.pairs)


def sight(stage: Stage) -> Sight:
    """Deals, looks, and checks on other deals that it is the role and not the seat that counts."""
    found, told = _looks(stage, stage.deal), _told(stage, stage.deal)
    rng = Random(1)
    for _ in range(DEALS):
        deal = tuple(rng.sample(stage.deal, len(stage.deal)))
        same = _looks(stage, deal) == found and _told(stage, deal) == told
        be_clear(same, "what is shown depends on more than the roles")
    roles = tuple(stage.deck)
    looks = []
    for show, (lookers, pairs) in found.items():
        seen = {b for _, b in pairs}
        looks.append(
            Look(
                show,
                frozenset(pairs),
                tuple(r for r in roles if r in lookers),
                tuple(r for r in roles if r in seen),
            )
        )
    tellings = (Telling(show, tuple(r for r in roles if r in lookers)) for show, lookers in told.items())
    return Sight(roles, tuple(looks), tuple(tellings))


def _of_seats(stage: Stage) -> frozenset[str]:
    """The shows whose value is a set of players."""
    shows = [
        s
        for phase in stage.settled.model.phases.values()
        for s in statements(phase.body)
        if isinstance(s, m.Show)
    ]
    other = {s.name for s in shows if not _is_seats(s.value.type)}
    return frozenset({s.name for s in shows} - other)


def _is_seats(type_: m.Type) -> bool:
    return isinstance(type_, SetType) and isinstance(type_.element, PlayerType)


def _told(stage: Stage, deal: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    """For every show of something else than players: the roles it is for."""
    _, observations = stage.opening(deal)
    seats = _of_seats(stage)
    made: dict[str, set[int]] = {}
    for o in observations:
        if o.kind == "shown" and o.name not in seats and o.seat is not None:
            made.setdefault(o.name, set()).add(o.seat)
    for show, shown in made.items():
        for seat, role in enumerate(deal):
            same = (seat in shown) == (role in {deal[s] for s in shown})
            be_clear(same, f"{role} is not always shown {show}")
    return {show: frozenset(deal[s] for s in shown) for show, shown in made.items()}


def _looks(
    stage: Stage, deal: tuple[str, ...]
) -> Mapping[str, tuple[frozenset[str], frozenset[tuple[str, str]]]]:
    """For every show, in order: the roles that look and the pairs of roles in which the one sees the other.

    Raises `Unclear` if two seats of one role are not treated alike.
    """
    _, observations = stage.opening(deal)
    seats = _of_seats(stage)
    order = list(dict.fromkeys(o.name for o in observations if o.kind == "shown" and o.name in seats))
    made = {}
    for show in order:
        shown = {o.seat: _seats(o) for o in observations if o.kind == "shown" and o.name == show}
        lookers = frozenset(deal[s] for s in shown if s is not None)
        pairs = set()
        for a, looker in enumerate(deal):
            be_clear((a in shown) == (looker in lookers), f"{looker} is not always shown {show}")
            for b, other in enumerate(deal):
                if a != b and b in shown.get(a, frozenset()):
                    pairs.add((looker, other))
        for a, looker in enumerate(deal):
            for b, other in enumerate(deal):
                if a != b and (looker, other) in pairs:
                    be_clear(b in shown[a], f"{looker} does not always see {other}")
        made[show] = (lookers, frozenset(pairs))
    return made


def _seats(observation: Observation) -> frozenset[int]:
    assert isinstance(observation.value, frozenset)
    return observation.value  # type: ignore[return-value]


@dataclass(frozen=True)
class ScriptStep:
    """One line of the reveal script: what is to be done and by which roles; `to` are those it is done for."""

    key: str
    roles: tuple[str, ...] = ()
    to: tuple[str, ...] = ()


def script(found: Sight, mutual: frozenset[str]) -> tuple[ScriptStep, ...]:
    """The reveal as steps; nothing at all if nobody is shown anything. In the `mutual` shows players find each other."""
    if not found.looks:
        return ()
    silent = all(look.show in mutual and not look.thumbs for look in found.looks)
    steps = [ScriptStep("close_all" if silent else "close_all_fists")]
    for look in found.looks:
        if look.show not in mutual:
            steps.append(ScriptStep("check"))
        if look.thumbs:
            steps.append(ScriptStep("thumbs_up", look.thumbs, look.lookers))
        if look.show in mutual:
            steps.append(ScriptStep("look_round", look.lookers, look.seen))
        else:
            steps.append(ScriptStep("look" if look.thumbs else "look_none", look.lookers, look.seen))
        if look.thumbs:
            steps.append(ScriptStep("thumbs_down", look.thumbs, look.lookers))
        steps.append(ScriptStep("close", look.lookers))
    if any(look.show not in mutual for look in found.looks):
        steps.append(ScriptStep("check"))
    return (*steps, ScriptStep("open_all"))
