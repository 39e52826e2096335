"""All that the tables state about one settled game, each part worked out when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import factorial, prod

from avalon_logic.referee import actions, endings, openings, rounds, votes
from avalon_logic.referee import sight as sights
from avalon_logic.referee.plan import plan
from avalon_logic.referee.stage import Stage, set_stage
from rules_dsl import Settled
from rules_dsl import model as m
from rules_dsl.types import PlayerType
from rules_dsl.walk import statements


class Facts:
    """The facts of one game."""

    def __init__(self, settled: Settled) -> None:
        self.settled = settled

    @cached_property
    def stage(self) -> Stage:
        return set_stage(self.settled)

    @cached_property
    def watched(self) -> str | None:
        """The choice whose uses are counted, if the game has it."""
        wanted = [spec.choice for spec in plan().tables if spec.kind == "uses"]
        return next((c for c in wanted if c in self.stage.choices), None)

    @cached_property
    def exploration(self) -> rounds.Exploration:
        return rounds.explore(self.stage, self.watched)

    @cached_property
    def quests(self) -> tuple[rounds.QuestFacts, ...]:
        return rounds.quest_facts(self.stage, self.exploration)

    @cached_property
    def votes(self) -> votes.VoteFacts:
        return votes.vote_facts(self.stage)

    @cached_property
    def uses(self) -> Mapping[int, tuple[tuple[rounds.Use, ...], ...]]:
        return rounds.uses_by_length(self.exploration)

    @cached_property
    def open_quests(self) -> openings.OpenQuests:
        return openings.open_quests(self.stage, self.exploration)

    @cached_property
    def sight(self) -> sights.Sight:
        return sights.sight(self.stage)

    @cached_property
    def script(self) -> tuple[sights.ScriptStep, ...]:
        return sights.script(self.sight, plan().mutual)

    @cached_property
    def endings(self) -> tuple[endings.Ending, ...]:
        return endings.endings(self.stage)

    @cached_property
    def actions(self) -> tuple[actions.PhaseActions, ...]:
        return actions.actions(self.stage, {e.phase for e in self.endings})

    @cached_property
    def deals(self) -> int:
        """How many different deals the deck has."""
        return factorial(self.stage.players) // prod(factorial(n) for n in self.stage.deck.values())

    @cached_property
    def tokens(self) -> Mapping[str, int]:
        """What a player holds from the start, as seats to the left of the first leader: found with every leader."""
        stage, found = self.stage, dict[str, set[int]]()
        for leader in range(stage.players):
            state, _ = stage.opening(leader=leader)
            for name, variable in stage.settled.model.variables.items():
                chosen = name == stage.names.leader or variable.kind != "state"
                value = stage.value(state, name)
                if (
                    not chosen
                    and isinstance(variable.type, PlayerType)
                    and variable.audience.kind == "public"
                ):
                    assert isinstance(value, int)
                    found.setdefault(name, set()).add((value - leader) % stage.players)
        return {name: next(iter(places)) for name, places in found.items() if len(places) == 1}

    def phase_cites(self, *names: str) -> tuple[str, ...]:
        """The clauses stated in these phases."""
        found: list[str] = []
        for name in names:
            phase = self.settled.model.phases.get(name)
            if phase is not None:
                found += phase.origin.cites
                found += [c for choice in phase.choices for c in choice.origin.cites]
                found += [c for s in statements(phase.body) for c in s.origin.cites]
        return tuple(sorted(set(found)))

    def choice_cites(self, *variables: str) -> tuple[str, ...]:
        """The clauses of these choices and of what they require."""
        found: list[str] = []
        for variable in variables:
            choice = self.stage.choices.get(variable)
            if choice is not None:
                found += choice.origin.cites
                found += [c for r in choice.requires for c in r.origin.cites]
        return tuple(sorted(set(found)))

    def show_cites(self) -> tuple[str, ...]:
        """The clauses of the shows that show something to somebody here."""
        seen = {look.show for look in self.sight.looks}
        found = [
            cite
            for phase in self.settled.model.phases.values()
            for s in statements(phase.body)
            if isinstance(s, m.Show) and s.name in seen
            for cite in s.origin.cites
        ]
        return tuple(sorted(set(found)))

    def phase_of(self, published: str) -> tuple[str, ...]:
        """The phases that publish something."""
        return tuple(
            phase.name
            for phase in self.settled.model.phases.values()
            if any(
                isinstance(s, m.Assign) and s.published and s.variable == published
                for s in statements(phase.body)
            )
        )
