"""What stands inside phases (pyparsing): audiences, choices with their requirements, and statements."""

from __future__ import annotations

from dataclasses import replace

import pyparsing as pp

from rules_dsl import syntax as s
from rules_dsl.elements import (
    Fields,
    cited,
    cites,
    expr,
    many,
    more,
    name,
    node,
    sign,
    skip,
    text,
    trial,
    type_,
    word,
)
from rules_dsl.source import Span

MOST_ALTERNATIVES = 20
_AUDIENCE = {"public": "public", "secret": "hidden", "own": "own"}

audience = node(
    (word("public") | word("hidden") | word("own"))("kind") | (skip("seen") - skip("by") - expr("to")),
    lambda sp, t: s.Audience(t.get("kind") or "to", t.get("to"), sp),
)
visibility = node(
    (word("public") | word("secret") | word("own"))("kind") | (skip("shown") - skip("to") - expr("to")),
    lambda sp, t: s.Audience(_AUDIENCE.get(t.get("kind") or "", "to"), t.get("to"), sp),
)

# choices
requirement = node(
    (word("require") | word("ought"))("kind") - expr("condition") + pp.Optional(text("text")) + cites,
    lambda sp, t: s.Require(t["kind"], t["condition"], t.get("text") or "", cited(t), sp),
)
binder = node(
    name("name") - skip("in") - expr("domain"), lambda sp, t: s.Binder(t["name"], t["domain"], sp)
).set_name("a name")
where = pp.Optional(skip("where") - expr("condition"))
several = node(
    (word("each") | word("one"))("kind") - binder("binder") + where,
    lambda sp, t: s.Chooser(t["kind"], None, t["binder"], t.get("condition"), sp),
)
chance = node(word("chance")("kind"), lambda sp, t: s.Chooser("chance", None, None, None, sp))
player = node(trial("who"), lambda sp, t: s.Chooser("player", t["who"], None, None, sp))
verb = (skip("chooses") | skip("deals")) | (skip("may") - skip("choose")).set_parse_action(lambda: ["may"])
choice = node(
    ((several | chance)("chooser") - pp.Group(verb)("verb") | player("chooser") + pp.Group(verb)("verb"))
    - name("name")
    + pp.Optional(sign(":") - type_("type"))
    + pp.Optional(skip("from") - expr("source"))
    + pp.Optional(skip("weighing") - expr("weight"))
    + pp.Optional(visibility("audience"))
    + pp.Optional(skip("when") - expr("when"))
    + cites
    + many(requirement, "requires"),
    lambda sp, t: s.Choice(
        t["chooser"],
        bool(t.flat("verb")),
        t["name"],
        t.get("type"),
        t.get("source"),
        t.get("weight"),
        t.get("audience"),
        t.get("when"),
        cited(t),
        t.flat("requires"),
        sp,
    ),
)

# statements
statement = pp.Forward()
statement.set_name("a statement")
block = sign("{") - pp.Group(pp.ZeroOrMore(statement)) - sign("}").set_name("a statement or '}'")


def _branches(span: Span, parts: Fields) -> s.If:
    """`if ... else if ... else ...` as one choice in the `else` of another."""
    alternatives = parts.each("alternatives")
    if len(alternatives) > MOST_ALTERNATIVES:
        raise pp.ParseFatalException(
            span.text, span.start, f"more than {MOST_ALTERNATIVES} 'else if' in a row"
        )
    *earlier, last = (parts["first"], *alternatives)
    last = replace(last, otherwise=parts.flat("otherwise"), cites=(*last.cites, *parts.flat("after_else")))
    for branch in reversed(earlier):
        last = replace(branch, otherwise=(last,))
    assert isinstance(last, s.If)
    return last


def _branch(span: Span, parts: Fields) -> s.If:
    return s.If(parts["condition"], parts.flat("then"), (), (*cited(parts), *parts.flat("after")), span)


condition = skip("if") - expr("condition") + cites - block("then") + more("after")
otherwise = skip("else") - block("otherwise") + more("after_else")
branch = node(
    node(condition, _branch)("first")
    + pp.Group(pp.ZeroOrMore(skip("else") + node(condition, _branch)))("alternatives")
    + pp.Optional(otherwise),
    _branches,
)
publish = node(
    skip("publish")
    - name("name")
    + pp.Optional(sign(":") - type_("type"))
    - sign("=")
    - expr("value")
    + cites,
    lambda sp, t: s.Publish(t["name"], t.get("type"), t["value"], cited(t), sp),
)
show = node(
    skip("show") - name("name") - skip("to") - binder("binder") + where - sign(":") - expr("value") + cites,
    lambda sp, t: s.Show(t["name"], t["binder"], t.get("condition"), t["value"], cited(t), sp),
)
win = node(skip("win") - expr("value") + cites, lambda sp, t: s.Win(t["value"], cited(t), sp))
draw = node(skip("draw") + cites, lambda sp, t: s.Win(None, cited(t), sp))
next_ = node(skip("next") - name("phase") + cites, lambda sp, t: s.Next(t["phase"], cited(t), sp))
continue_ = node(skip("continue") + cites, lambda sp, t: s.Next(None, cited(t), sp))
assign = node(
    name("name")
    + pp.Group(pp.Optional(sign("[") - pp.DelimitedList(expr) - sign("]")))("keys")
    - sign(":=")
    - expr("value")
    + cites,
    lambda sp, t: s.Assign(t["name"], t.flat("keys"), t["value"], cited(t), sp),
)
statement <<= branch | publish | show | win | draw | next_ | continue_ | assign
