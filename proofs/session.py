"""What the prover is asked, and what it works out once for a model and uses for all its properties."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from proofs.clock import Clock, OutOfTime
from proofs.induction import Induction
from proofs.lemmas import Lemma
from proofs.samples import Sample, samples
from proofs.standstill import Standstill
from rules_dsl import model as m
from rules_dsl.smt import System, compile_smt


@dataclass(frozen=True)
class Options:
    """`seconds` is the limit for each property (processor time); `deepest` how many events a search looks ahead."""

    seconds: float = 60.0
    deepest: int = 110
    games: int = 60
    seed: int = 0
    only: tuple[str, ...] = ()
    memory: int | None = None  # megabytes for the solver of each process


@dataclass
class Session:
    """What is worked out once for a model and used for all its properties."""

    family: str
    model: m.Model
    options: Options
    seen: list[Sample] = field(default_factory=list)
    system: System | None = None
    induction: Induction | None = None
    proved: list[Lemma] = field(default_factory=list)
    shared_seconds: float = 0.0
    standstill: Standstill | None = None

    def prepare(self) -> System:
        """The system, made once, and states met in random games; raises `OutOfTime` if the rules are too long for it."""
        if self.system is None:
            try:
                with Clock.of(self.options.seconds).within():
                    made = compile_smt(self.model)
            except OutOfTime:
                raise OutOfTime("out of time while the rules were turned into formulas") from None
            # fewer states seen only mean fewer guesses
            with suppress(OutOfTime), Clock.of(self.options.seconds / 2).within():
                for sample in samples(self.model, self.options.games, self.options.seed):
                    self.seen.append(sample)
            self.system = made
        return self.system


def chosen(model: m.Model, options: Options) -> list[m.Property]:
    return [p for p in model.properties.values() if not options.only or p.name in options.only]
