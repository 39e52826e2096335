"""The tables that hold for a game whatever the number of players: actions, endings, open quests, checks, rulings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from avalon_logic.referee.actions import Action, PhaseActions
from avalon_logic.referee.calling import speak_of
from avalon_logic.referee.document import Table
from avalon_logic.referee.endings import NOBODY, Ending
from avalon_logic.referee.facts import Facts
from avalon_logic.referee.messages import Words, capital
from rules_dsl import Model, Settled
from rules_dsl import model as m
from rules_dsl.evaluate import Environment, evaluate, holds
from rules_dsl.types import EnumType


def actions(id: str, facts: Facts, words: Words) -> Table:
    rows = []
    for phase in facts.actions:
        for index, action in enumerate(phase.actions):
            last = index + 1 == len(phase.actions)
            rows.append(
                (
                    words.word("phases", phase.name) if index == 0 else "",
                    _who(facts, words, action),
                    _what(facts, words, action),
                    _seen_by(words, action),
                    words.say("language", "semicolon").join(
                        words.text(t) for t in (*action.requires, *action.duties)
                    ),
                    _next(words, phase) if last else "",
                )
            )
        if not phase.actions:
            happens = words.find("happens", phase.name)
            rows.append(
                (
                    words.word("phases", phase.name),
                    "",
                    "" if happens is None else words.fill(happens),
                    "",
                    "",
                    _next(words, phase),
                )
            )
    columns = [words.say("words", w) for w in ("phase", "who", "action", "seen_by", "objection", "next")]
    notes = [capital(words.word("speeches", name)) + "." for name in facts.settled.model.speeches]
    data = [
        {
            "phase": p.name,
            "next": list(p.following),
            "ends": p.ends,
            "actions": [
                {
                    "choice": a.variable,
                    "chooser": a.kind,
                    "who": list(a.roles) or a.who,
                    "seen_by": list(a.audience_names) or a.audience,
                    "may_decline": a.optional,
                    "legal": {r: list(v) for r, v in a.legal.items()},
                    "clauses": list(a.cites),
                }
                for a in p.actions
            ],
        }
        for p in facts.actions
    ]
    return Table(id, "list", words.say("titles", id), tuple(columns), tuple(rows), tuple(notes), (), data)


def _who(facts: Facts, words: Words, action: Action) -> str:
    if action.kind == "chance":
        return words.say("words", "chance")
    if action.roles:
        return speak_of(facts.stage, words, action.roles)
    if action.who == "all":
        return words.say("words", "everyone")
    return words.word("who", action.who)


def _what(facts: Facts, words: Words, action: Action) -> str:
    text = words.word("choices", action.variable)
    if action.optional:
        text = words.say("words", "may_decline", action=text)
    if not action.legal:
        return text
    type_ = facts.stage.choices[action.variable].type
    by_side: dict[str, set[tuple[str, ...]]] = {}
    for role, values in action.legal.items():
        by_side.setdefault(facts.stage.sides[role], set()).add(values)
    parts = []
    for side, found in by_side.items():
        if len(found) == 1:
            parts.append((words.word("members.Side", side), next(iter(found))))
        else:
            same = [(words.role(r), v) for r, v in action.legal.items() if facts.stage.sides[r] == side]
            parts += same
    listed = [
        words.say(
            "words",
            "legal",
            side=name,
            values=words.listed([_value(words, type_, v) for v in values], words.say("words", "or")),
        )
        for name, values in parts
    ]
    return f"{text} ({words.say('language', 'semicolon').join(listed)})"


def _value(words: Words, type_: m.Type, value: str) -> str:
    if isinstance(type_, EnumType):
        return words.word(f"members.{type_.name}", value)
    return words.say("words", "yes" if value == "True" else "no")


def _seen_by(words: Words, action: Action) -> str:
    match action.audience:
        case "public":
            return words.say("words", "public_each" if action.kind == "each" else "public")
        case "own":
            return words.say("words", "own")
        case "to" if action.audience_names:
            named = words.listed([words.word("who", name) for name in action.audience_names])
            return words.say("words", "to", names=named)
        case _:
            return words.say("words", "hidden")


def _next(words: Words, phase: PhaseActions) -> str:
    following = [words.word("phases", name) for name in phase.following]
    return words.say("language", "comma").join(following + [words.say("words", "end")] * phase.ends)


def endings(id: str, facts: Facts, words: Words) -> Table:
    rows = [
        (
            capital(_event(facts, words, e)),
            words.say("words", "nobody_wins") if e.result == NOBODY else words.word("members.Side", e.result),
            ", ".join(e.cites),
        )
        for e in facts.endings
    ]
    columns = [words.say("words", w) for w in ("event", "winner", "clause")]
    data = [
        {
            "phase": e.phase,
            "winner": None if e.result == NOBODY else e.result,
            "numbers": dict(e.numbers),
            "roles": {k: list(v) for k, v in e.roles.items()},
            "clauses": list(e.cites),
        }
        for e in facts.endings
    ]
    clauses = tuple(sorted({c for e in facts.endings for c in e.cites}))
    return Table(id, "list", words.say("titles", id), tuple(columns), tuple(rows), (), clauses, data)


def _event(facts: Facts, words: Words, ending: Ending) -> str:
    found = words.find("wins", ending.phase, ending.result)
    if found is None:
        return words.word("phases", ending.phase)
    roles = {name: speak_of(facts.stage, words, named) for name, named in ending.roles.items()}
    within = words.say("words", "in_one_round" if facts.votes.counted_anew else "in_one_game")
    return words.fill(found, **ending.numbers, **roles, within=within)


def open_quests(id: str, facts: Facts, words: Words) -> Table:
    found = facts.open_quests
    quests = sorted({q.quest for q in facts.quests})
    columns = [words.say("words", w) for w in ("round", "open_now")]
    rows: list[tuple[str, ...]] = []
    notes = []
    match found.by:
        case "successes":
            columns = [words.say("words", "successes"), *(words.say("words", "quest", n=q) for q in quests)]
            for (successes,), gate in found.rows:
                cells = (words.say("words", "open" if q in gate else "closed") for q in quests)
                rows.append((str(successes), *cells))
            notes.append(words.say("words", "again" if found.again else "once_only"))
        case "order":
            rows = [(str(k), words.numbers(sorted(gate))) for (k,), gate in found.rows]
        case _:
            columns = [words.say("words", w) for w in ("successes", "attempted", "open_now")]
            nothing = words.say("words", "nothing")
            for (successes, *attempted), gate in found.rows:
                rows.append(
                    (str(successes), words.numbers(attempted) or nothing, words.numbers(sorted(gate)))
                )
    notes.append(words.say("words", "kept" if found.kept_after_rejection else "chosen_anew"))
    data = {
        "by": found.by,
        "rows": [{"when": list(k), "open": sorted(v)} for k, v in found.rows],
        "again": found.again,
        "kept_after_rejection": found.kept_after_rejection,
    }
    cites = facts.choice_cites(facts.stage.names.target)
    kind = "matrix" if found.by == "successes" else "list"
    return Table(id, kind, words.say("titles", id), tuple(columns), tuple(rows), tuple(notes), cites, data)


def checks(id: str, open_model: Model, settled: Mapping[int, Settled], words: Words) -> Table:
    """Every set-up check of the rulebook with what it says at each number of players."""
    counts = list(settled)
    fine = words.say("words", "fine")
    rows: list[tuple[str, ...]] = []
    data: list[dict[str, object]] = []
    for check in open_model.checks:
        verdicts = []
        for n in counts:
            env = Environment(open_model, n, settled[n].params)
            verdicts.append(holds(check.condition, env))
        said = [fine if ok else words.say("words", f"severity_{check.severity}") for ok in verdicts]
        if not all(verdicts):
            rows.append((words.text(check.text), *said, ", ".join(check.origin.cites)))
        data.append(
            {
                "check": check.text,
                "severity": check.severity,
                "holds": {str(n): ok for n, ok in zip(counts, verdicts, strict=True)},
                "clauses": list(check.origin.cites),
            }
        )
    heads = [str(n) for n in counts] if len(counts) > 1 else [words.say("words", "verdict")]
    columns = [words.say("words", "objection"), *heads, words.say("words", "clause")] if rows else []
    range_ = words.say("words", "count_range", fewest=open_model.fewest, most=open_model.most)
    cites = ", ".join(open_model.params["players"].origin.cites)
    notes = [f"{range_} ({cites})" if cites else range_]
    left = len(data) - len(rows)
    if left:
        notes.append(words.say("words", "other_checks" if rows else "all_fine", n=left))
    if rows and len(counts) > 1:
        notes.append(words.say("words", "columns_are_counts"))
    return Table(id, "list", words.say("titles", id), tuple(columns), tuple(rows), tuple(notes), (), data)


def rulings(id: str, open_model: Model, settled: Settled, words: Words) -> Table:
    """The open points of the books with the reading in force."""
    rows, data = [], []
    for param in open_model.params.values():
        if param.kind != "ruling":
            continue
        texts = dict(param.alternatives)
        chosen = str(settled.params[param.name])
        default = str(evaluate(param.default, Environment(open_model, open_model.fewest, settled.params)))

        def said(choice: str, texts: Mapping[str, str] = texts) -> str:
            return words.text(texts[choice]) if texts.get(choice) else words.role(choice)

        answer = said(chosen)
        if chosen != default:
            answer = words.say("words", "house", chosen=answer, default=said(default))
        rows.append((words.text(param.text), answer, ", ".join(param.origin.cites)))
        data.append(
            {
                "ruling": param.name,
                "in_force": chosen,
                "default": default,
                "alternatives": list(texts),
                "clauses": list(param.origin.cites),
            }
        )
    columns = [words.say("words", w) for w in ("question", "in_force", "clause")]
    return Table(id, "list", words.say("titles", id), tuple(columns), tuple(rows), (), (), data)


def agreed(table: Table) -> Table:
    """The rulings as a card has them: question and answer, those that differ from the books first."""
    house = {e["ruling"] for e in table.data if e["in_force"] != e["default"]}
    pairs = sorted(zip(table.data, table.rows, strict=True), key=lambda p: p[0]["ruling"] not in house)
    rows = tuple(row[:2] for _, row in pairs)
    data = [entry for entry, _ in pairs]
    return Table(table.id, "agreed", table.title, table.columns[:2], rows, table.notes, table.clauses, data)


def brief(table: Table) -> Table:
    """The endings as a card has them, without the clauses."""
    rows = tuple(row[:2] for row in table.rows)
    return replace(table, columns=table.columns[:2], rows=rows)


def same_for_all(tables: Sequence[tuple[int, Table]], words: Words) -> list[Table]:
    """One table where all are the same; else one for each group of player counts, which the title then names."""
    groups: list[tuple[list[int], Table]] = []
    for players, table in tables:
        known = next((g for g in groups if g[1] == table), None)
        if known is None:
            groups.append(([players], table))
        else:
            known[0].append(players)
    if len(groups) == 1:
        return [groups[0][1]]
    made = []
    for counts, table in groups:
        title = f"{table.title} ({words.say('words', 'players_listed', listed=words.numbers(counts))})"
        made.append(
            Table(
                table.id, table.kind, title, table.columns, table.rows, table.notes, table.clauses, table.data
            )
        )
    return made
