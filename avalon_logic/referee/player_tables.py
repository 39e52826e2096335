"""The tables that go with a number of players: set-up, board, votes, results, who sees whom, script, uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from avalon_logic.referee.calling import call, speak_of
from avalon_logic.referee.document import Table
from avalon_logic.referee.facts import Facts
from avalon_logic.referee.messages import Words, capital
from avalon_logic.referee.rounds import QuestFacts
from avalon_logic.referee.sight import Look, ScriptStep


def _table(
    id: str,
    kind: str,
    words: Words,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
    clauses: Sequence[str] = (),
    data: object = None,
) -> Table:
    title = words.say("titles", id)
    return Table(
        id, kind, title, tuple(columns), tuple(tuple(r) for r in rows), tuple(notes), tuple(clauses), data
    )


def deck_words(facts: Facts, words: Words, side: str) -> str:
    """The cards of one side."""
    cards = [(r, n) for r, n in facts.stage.deck.items() if facts.stage.sides[r] == side]
    return words.say("language", "comma").join(
        words.role(r) if n == 1 else f"{n} × {words.role(r)}" for r, n in cards
    )


def setup(id: str, facts: Facts, words: Words) -> Table:
    stage = facts.stage
    rows = [[words.say("words", "players_row"), str(stage.players)]]
    sides: dict[str, int] = {}
    for role, n in stage.deck.items():
        sides[stage.sides[role]] = sides.get(stage.sides[role], 0) + n
    for side, n in sides.items():
        rows.append([words.word("members.Side", side), f"{n} ({deck_words(facts, words, side)})"])
    rows.append(
        [words.say("words", "deals"), f"{facts.deals:,}".replace(",", words.say("language", "thousands"))]
    )
    rows.append([words.say("words", "first_leader"), words.say("words", "at_random")])
    for name, place in facts.tokens.items():
        neighbour = {1: "left_of_leader", stage.players - 1: "right_of_leader"}.get(place)
        if neighbour is not None:
            rows.append([words.word("variables", name), words.say("words", neighbour)])
    data = {
        "players": stage.players,
        "sides": sides,
        "deck": dict(stage.deck),
        "deals": facts.deals,
        "tokens": dict(facts.tokens),
    }
    cites = facts.choice_cites(stage.names.deal, stage.names.leader)
    return _table(id, "facts", words, ("", ""), rows, clauses=cites, data=data)


def _by(quests: Sequence[QuestFacts], key: str) -> Mapping[int, set[int]]:
    found: dict[int, set[int]] = {}
    for q in quests:
        found.setdefault(getattr(q, key), set()).add(q.fails_needed)
    return found


def _needs(facts: Facts) -> tuple[str, Mapping[int, tuple[int, ...]]]:
    """What decides how many fails are needed, the quest's number or its place in the order; and how many."""
    for key in ("quest", "attempt"):
        found = _by(facts.quests, key)
        if all(len(v) == 1 for v in found.values()):
            break
    return key, {k: tuple(sorted(v)) for k, v in sorted(found.items())}


def board(id: str, facts: Facts, words: Words) -> Table:
    key, needs = _needs(facts)
    sizes = {q.quest: q.size for q in facts.quests}
    quests = sorted(sizes)
    columns = ["", *(words.say("words", "quest", n=q) for q in quests)]
    by_order = key == "attempt"
    rows = [
        [words.say("words", "team_size"), *(str(sizes[q]) for q in quests)],
        [
            words.say("words", "fails_by_order" if by_order else "fails_needed"),
            *("–".join(str(n) for n in needs[k]) for k in sorted(needs)),
        ],
    ]
    notes = [words.say("words", "by_order_note")] if by_order else []
    for amount in sorted({n for v in needs.values() for n in v if n > 1}):
        where = [k for k, v in needs.items() if amount in v]
        if not by_order:
            notes.append(
                words.say("words", "more_fails", n=len(where), listed=words.numbers(where), fails=amount)
            )
    data = {
        "fails_by": key,
        "sizes": {str(q): sizes[q] for q in quests},
        "fails_needed": {str(k): list(v) for k, v in needs.items()},
    }
    names = facts.stage.names
    cites = (*facts.choice_cites(names.team), *facts.phase_cites(*facts.phase_of(names.fails)))
    return _table(id, "board", words, columns, rows, notes, tuple(sorted(set(cites))), data)


def votes(id: str, facts: Facts, words: Words) -> Table:
    found = facts.votes
    short = max(found.rejections - found.evil, 0)
    rows = [
        [words.say("words", "approvals"), str(found.approvals)],
        [words.say("words", "rejections"), str(found.rejections)],
        [words.say("words", "good_votes"), str(short)],
    ]
    notes = []
    if found.rejected_teams is not None:
        lost = str(found.rejected_teams)
        if found.winner is not None:
            side = words.word("members.Side", found.winner)
            lost = words.say("words", "wins_it", count=found.rejected_teams, side=side)
        rows.append([words.say("words", "rejected_teams"), lost])
        notes.append(words.say("words", "counted_anew" if found.counted_anew else "counted_on"))
    notes += [words.say("words", "unvoted", n=k - 1) for k in found.unvoted]
    data = {
        "approvals": found.approvals,
        "rejections": found.rejections,
        "good_votes": short,
        "rejected_teams": found.rejected_teams,
        "winner": found.winner,
        "counted_anew": found.counted_anew,
        "unvoted": list(found.unvoted),
    }
    names = facts.stage.names
    voting = [
        n for n, p in facts.settled.model.phases.items() if any(c.variable == names.ballot for c in p.choices)
    ]
    cites = facts.phase_cites(*voting, names.rejected)
    return _table(id, "facts", words, ("", ""), rows, notes, cites, data)


def outcomes(id: str, facts: Facts, words: Words) -> Table:
    key, _ = _needs(facts)
    groups: dict[int, list[QuestFacts]] = {}
    for q in facts.quests:
        groups.setdefault(q.fails_needed, []).append(q)
    columns = [words.say("words", "fails_column")]
    data_groups = []
    for need in sorted(groups):
        numbers = sorted({getattr(q, key) for q in groups[need]})
        which = "quests_listed" if key == "quest" else "attempts_listed"
        columns.append(words.say("words", which, n=len(numbers), listed=words.numbers(numbers)))
        data_groups.append({"by": key, "which": numbers, "results": list(_longest(groups[need]))})
    columns.append(words.say("words", "certain"))
    rows = []
    certain: list[int] = []
    for k in range(max(len(q.results) for q in facts.quests)):
        row = [words.say("words", "fails_shown", n=k)]
        for need in sorted(groups):
            results = _longest(groups[need])
            row.append(
                words.word("members.Mark", results[k]) if k < len(results) else words.say("words", "nothing")
            )
        aboard = min(q.evil_aboard[k] for q in facts.quests if k < len(q.evil_aboard))
        certain.append(aboard)
        row.append(
            words.say("words", "evil_aboard", n=aboard) if aboard else words.say("words", "nothing_certain")
        )
        rows.append(row)
    data = {"groups": data_groups, "evil_aboard": certain}
    cites = facts.phase_cites(*facts.phase_of(facts.stage.names.fails))
    return _table(id, "list", words, columns, rows, (), cites, data)


def _longest(quests: Sequence[QuestFacts]) -> tuple[str, ...]:
    return max((q.results for q in quests), key=len)


def sight(id: str, facts: Facts, words: Words) -> Table:
    found = facts.sight
    none, self_ = words.say("words", "sees_nothing"), words.say("words", "self")
    rows, data = [], {}
    for looker in found.roles:
        row = [words.role(looker)]
        for seen in found.roles:
            shows = found.shows(looker, seen)
            marks = "+".join(dict.fromkeys(_mark(words, s) for s in shows))
            alone = looker == seen and facts.stage.deck[seen] == 1
            row.append(self_ if alone else marks or none)
        data[looker] = {s: list(found.shows(looker, s)) for s in found.roles if found.shows(looker, s)}
        rows.append(row)
    legend = dict.fromkeys(
        words.say(
            "words",
            "legend",
            mark=_mark(words, look.show),
            seen_as=_seen_as(facts, words, look),
        )
        for look in found.looks
        if look.pairs
    )
    notes = (
        [words.say("words", "row_sees_column", legend=words.say("language", "semicolon").join(legend) + ".")]
        if legend
        else [words.say("words", "nobody_sees")]
        if not found.told
        else []
    )
    notes += told_notes(facts, words)
    columns = [words.say("words", "looker"), *(words.role(r) for r in found.roles)]
    return _table(id, "matrix", words, columns, rows, notes, facts.show_cites(), data)


def told_notes(facts: Facts, words: Words) -> list[str]:
    """What is shown besides players, which no look round the table can show."""
    return [
        words.say(
            "words",
            "told",
            roles=words.listed([words.the_role(r) for r in telling.lookers]),
            shown=words.word("shows", telling.show),
        )
        for telling in facts.sight.told
    ]


def _mark(words: Words, show: str) -> str:
    """The letter a look has in the table; without a message the first one of its name."""
    found = words.find("shows", show, "mark")
    return words.word("shows", show)[:1].upper() if found is None else words.fill(found)


def _seen_as(facts: Facts, words: Words, look: Look) -> str:
    """As what the seen are seen; a look that is for few roles names those in play."""
    found = words.find("shows", look.show, "seen_as")
    if found is None:
        return words.word("shows", look.show)
    seen = words.listed([words.the_role(r) for r in look.seen], words.say("words", "or"))
    return words.fill(found, seen=seen)


def script_line(facts: Facts, words: Words, step: ScriptStep) -> str:
    """One step of the reveal as it is read aloud."""
    if not step.roles:
        return words.say("script", step.key)
    named = step.key not in ("close", "thumbs_down")
    called = call(facts.stage, words, step.roles, exceptions=named)
    to = speak_of(facts.stage, words, step.to) if step.to else ""
    return capital(words.say("script", step.key, n=2 if called.many else 1, roles=called.text, to=to))


def script_lines(facts: Facts, words: Words) -> tuple[str, ...]:
    return tuple(script_line(facts, words, step) for step in facts.script)


def script_notes(facts: Facts, words: Words) -> tuple[str, ...]:
    """What is to be said of a script besides its lines."""
    told = told_notes(facts, words)
    return tuple(told) if facts.script or told else (words.say("script", "nothing"),)


def script(id: str, facts: Facts, words: Words) -> Table:
    lines = script_lines(facts, words)
    rows = [[str(i), line] for i, line in enumerate(lines, 1)]
    notes = script_notes(facts, words)
    columns = (words.say("words", "step"), words.say("words", "say"))
    data = [{"step": s.key, "roles": list(s.roles), "to": list(s.to)} for s in facts.script]
    return _table(id, "script", words, columns, rows, notes, facts.show_cites(), data)


def uses(id: str, facts: Facts, words: Words) -> Table:
    rows, data = [], []
    for quests, ways in facts.uses.items():
        for way in ways:
            rows.append(
                [
                    str(quests),
                    str(len(way)),
                    words.say("language", "comma").join(str(u.after) for u in way)
                    or words.say("words", "unused"),
                    words.say("language", "comma").join(str(u.options) for u in way),
                ]
            )
            data.append(
                {
                    "quests": quests,
                    "after": [u.after for u in way],
                    "options": [u.options for u in way],
                }
            )
    columns = [words.say("words", w) for w in ("quests_played", "uses", "after_quests", "choose_from")]
    return _table(id, "list", words, columns, rows, (), facts.choice_cites(facts.watched or ""), data)
