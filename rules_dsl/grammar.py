"""The grammar (pyparsing): text in, syntax tree out, errors as diagnostics with a place.

Declarations and statements are pyparsing elements; `-` after a leading word makes an error point at the word
that is wrong instead of at the declaration it spoils. Expressions are read by `expressions` as one element.
"""

from __future__ import annotations

import re
from functools import lru_cache

import pyparsing as pp

from rules_dsl import syntax as s
from rules_dsl.diagnostics import Diagnostic, RulebookError
from rules_dsl.elements import (
    Fields,
    cited,
    cites,
    expr,
    listed,
    many,
    name,
    named,
    node,
    number,
    sign,
    skip,
    text,
    type_,
    word,
)
from rules_dsl.lexicon import prepare
from rules_dsl.sentences import audience, binder, choice, requirement, statement, where
from rules_dsl.source import SourceText, Span


def parse(text: str, name: str = "<text>") -> s.Rulebook:
    """The games and modules a text declares; raises `RulebookError` with a place if it is not a rulebook."""
    source = prepare(text, name)
    try:
        found = _rulebook().parse_string(source, parse_all=True)
    except pp.ParseBaseException as error:
        raise RulebookError([_diagnosed(source, error)]) from None
    games = tuple(x for x in found if isinstance(x, s.Game))
    modules = tuple(x for x in found if isinstance(x, s.Module))
    return s.Rulebook(games, modules)


_FOUND = re.compile(r"[A-Za-z0-9_]+|\S")
_TOO_DEEP = "name parts of it with 'def' or 'type', and use those"


def _diagnosed(source: SourceText, error: pp.ParseBaseException) -> Diagnostic:
    """What pyparsing says, in our words and with our place."""
    at = min(error.loc, len(source))
    while at < len(source) and source[at].isspace():
        at += 1
    message = error.msg[:1].lower() + error.msg[1:]
    match = _FOUND.match(source, at)
    code: str = getattr(error, "code", "E010")
    if match is None:
        message += ", but the text ends here"
        at = max(0, len(source.rstrip()) - 1)
    elif message.startswith("expected"):
        message += f", found '{match.group()}'"
    span = Span(source, at, match.end() if match else at + 1)
    return Diagnostic(code, message, span, _TOO_DEEP if code == "E002" else "")


@lru_cache(maxsize=1)
def _rulebook() -> pp.ParserElement:
    # declarations
    players = node(
        skip("players") - number("low") - sign("..") - number("high") + cites,
        lambda sp, t: s.Players(t["low"], t["high"], cited(t), sp),
    )
    attribute = node(
        name("name") - sign(":") - type_("type") + pp.Optional(sign("=") - expr("default")),
        lambda sp, t: s.AttributeDecl(t["name"], t["type"], t.get("default"), sp),
    )
    by_name = pp.Group(name + sign("=") - expr)
    by_place = pp.Group(expr)
    member = node(
        name("name")
        + pp.Optional(
            sign("(") - pp.Group(pp.Optional(pp.DelimitedList(by_name | by_place)))("values") - sign(")")
        )
        + cites,
        lambda sp, t: s.MemberDecl(
            t["name"],
            tuple(v[0] for v in t.each("values") if len(v) == 1),
            tuple((v[0], v[1]) for v in t.each("values") if len(v) == 2),
            cited(t),
            sp,
        ),
    )
    comma = pp.Optional(sign(","))
    attributes = pp.Optional(sign("(") - listed(attribute, "attributes") - sign(")"))
    enum = node(
        pp.Optional(word("extend"))("extends")
        + skip("enum")
        - name("name")
        + attributes
        + pp.Optional(
            sign("{")
            - pp.Group(pp.ZeroOrMore(member + comma))("members")
            - sign("}").set_name("a member or '}'")
        )
        + cites,
        lambda sp, t: s.EnumDecl(
            t["name"], bool(t.get("extends")), t.flat("attributes"), t.flat("members"), cited(t), sp
        ),
    )
    type_decl = node(
        skip("type") - name("name") - sign("=") - type_("type") + cites,
        lambda sp, t: s.TypeDecl(t["name"], t["type"], cited(t), sp),
    )
    override = pp.Optional(word("override"))("overrides")

    def overrides(t: Fields) -> bool:
        return bool(t.get("overrides"))

    number_cell = pp.Regex(r"-?[0-9]+").set_parse_action(
        lambda txt, loc, t: [s.Number(int(t[0]), Span(txt, loc, loc + len(t[0])))]
    )
    name_cell = pp.Regex(r"(?!cite\b)[A-Za-z_][A-Za-z0-9_]*").set_parse_action(
        lambda txt, loc, t: [s.Name(t[0], Span(txt, loc, loc + len(t[0])))]
    )
    cell = (number_cell | name_cell).set_name("a number or a name")
    row = node(
        cell("key") - sign(":") - pp.Group(pp.OneOrMore(cell + ~pp.FollowedBy(":")))("values") + comma,
        lambda sp, t: s.TableRow(t["key"], t.flat("values"), sp),
    )
    table = node(
        override
        + skip("table")
        - name("name")
        - sign("[")
        - listed(type_, "keys")
        - sign("]")
        - sign("{")
        - pp.Group(pp.ZeroOrMore(row))("rows")
        - sign("}").set_name("a row such as '5: 2 3' or '}'")
        + cites,
        lambda sp, t: s.TableDecl(t["name"], overrides(t), t.flat("keys"), t.flat("rows"), cited(t), sp),
    )
    param = node(
        override
        + skip("param")
        - name("name")
        + pp.Optional(sign(":") - type_("type"))
        - sign("=")
        - expr("default")
        + cites,
        lambda sp, t: s.ParamDecl(t["name"], overrides(t), t.get("type"), t["default"], cited(t), sp),
    )
    alternative = node(
        name("name") + pp.Optional(text("text")) + comma,
        lambda sp, t: s.Alternative(t["name"], t.get("text") or "", sp),
    )
    ruling = node(
        override
        + skip("ruling")
        - name("name")
        + pp.Optional(text("text"))
        + pp.Optional(sign(":") - type_("type"))
        + pp.Optional(
            sign("{") - many(alternative, "alternatives") - sign("}").set_name("an alternative or '}'")
        )
        - skip("default")
        - name("default")
        + cites,
        lambda sp, t: s.RulingDecl(
            t["name"],
            overrides(t),
            t.get("text") or "",
            t.get("type"),
            t.flat("alternatives"),
            t["default"],
            cited(t),
            sp,
        ),
    )
    parameter = node(
        name("name") - sign(":") - type_("type"), lambda sp, t: s.DefParameter(t["name"], t["type"], sp)
    )
    parameters = pp.Optional(
        sign("(") - pp.Group(pp.Optional(pp.DelimitedList(parameter)))("parameters") - sign(")")
    )
    def_ = node(
        override
        + skip("def")
        - name("name")
        + parameters
        + pp.Optional(sign(":") - type_("type"))
        - sign("=")
        - expr("value")
        + cites,
        lambda sp, t: s.DefDecl(
            t["name"], overrides(t), t.flat("parameters"), t.get("type"), t["value"], cited(t), sp
        ),
    )
    state = node(
        audience("audience")
        - name("name")
        - sign(":")
        - type_("type")
        + pp.Optional(sign("=") - expr("initial"))
        + cites,
        lambda sp, t: s.StateDecl(t["name"], t["audience"], t["type"], t.get("initial"), cited(t), sp),
    )
    setup = node(
        skip("setup")
        - (word("error") | word("warning") | word("note")).set_name("'error', 'warning' or 'note'")(
            "severity"
        )
        - skip("unless")
        - expr("condition")
        - text("text")
        + cites,
        lambda sp, t: s.SetupCheck(t["severity"], t["condition"], t["text"], cited(t), sp),
    )
    phase_end = sign("}").set_name("a choice, a statement or '}'")
    phase = node(
        override
        + skip("phase")
        - name("name")
        + pp.Optional((word("before") | word("after"))("placement") - name("anchor"))
        + pp.Optional(skip("when") - expr("when"))
        + cites
        - sign("{")
        - many(choice, "choices")
        - many(statement, "body")
        - phase_end,
        lambda sp, t: s.PhaseDecl(
            t["name"],
            overrides(t),
            t.get("placement"),
            t.get("anchor"),
            t.get("when"),
            t.flat("choices"),
            t.flat("body"),
            cited(t),
            sp,
        ),
    )
    on = pp.Group(skip("on") - name - pp.Group(pp.OneOrMore(requirement)))
    extend = node(
        skip("extend")
        + ~word("enum")
        - name("phase")
        + pp.Optional(word("first"))("first")
        + cites
        - sign("{")
        - many(on, "on")
        - many(choice, "choices")
        - many(statement, "body")
        - phase_end,
        lambda sp, t: s.ExtendDecl(
            t["phase"],
            bool(t.get("first")),
            t.flat("choices"),
            tuple((o[0], tuple(o[1])) for o in t.each("on")),
            t.flat("body"),
            cited(t),
            sp,
        ),
    )
    start = node(
        override + skip("start") - name("phase"), lambda sp, t: s.StartDecl(t["phase"], overrides(t), sp)
    )
    result = node(skip("result") - type_("type"), lambda sp, t: s.ResultDecl(t["type"], sp))
    speech = node(
        skip("speech") - name("name") - parameters + cites,
        lambda sp, t: s.SpeechDecl(t["name"], t.flat("parameters"), cited(t), sp),
    )
    assume = node(
        skip("assume")
        - name("name")
        - text("text")
        - skip("for")
        - name("target")
        + pp.Optional(skip("by") - name("by"))
        - sign("{")
        - (word("require") | pp.Keyword("weight")).set_name("'require' or 'weight'")("kind")
        - expr("value")
        - sign("}")
        + cites,
        lambda sp, t: s.AssumeDecl(
            t["name"], t["text"], t["target"], t.get("by"), t["kind"], t["value"], cited(t), sp
        ),
    )
    expect = skip("expect") - (word("proved") | word("refuted") | word("unknown"))("expect")
    claim = node(
        (word("invariant") | word("reachable"))("kind")
        - name("name")
        - text("text")
        - sign(":")
        - expr("value")
        - expect
        + cites,
        lambda sp, t: s.PropertyDecl(
            t["kind"], t["name"], t["text"], t["value"], None, t["expect"], cited(t), sp
        ),
    )
    liveness = node(
        (word("progress") | word("terminates"))("kind")
        - name("name")
        - text("text")
        + pp.Optional(skip("within") - number("bound"))
        - expect
        + cites,
        lambda sp, t: s.PropertyDecl(
            t["kind"], t["name"], t["text"], None, t.get("bound"), t["expect"], cited(t), sp
        ),
    )

    def reference(what: str) -> pp.ParserElement:
        return node(named(what), lambda sp, t: s.Reference(t[0], sp))

    about_phase = name("name") - text("text") - sign(":") - reference("the name of a phase")("phase")
    of_phase = node(
        (
            word("symmetric")("kind") - about_phase
            | word("silent")("kind") - about_phase + pp.Optional(skip("to") - binder("binder") + where)
        )
        - expect
        + cites,
        lambda sp, t: s.PropertyDecl(
            t["kind"],
            t["name"],
            t["text"],
            t.get("condition"),
            None,
            t["expect"],
            cited(t),
            sp,
            phase=t["phase"],
            binder=t.get("binder"),
        ),
    )
    item = (
        players
        | enum
        | type_decl
        | table
        | param
        | ruling
        | def_
        | state
        | setup
        | phase
        | extend
        | start
        | result
        | speech
        | assume
        | claim
        | liveness
        | of_phase
    ).set_name("a declaration")

    def references(key: str) -> pp.ParserElement:
        return listed(reference("the name of a module"), key)

    body = sign("{") - many(item, "items") - sign("}").set_name("a declaration or '}'")
    game = node(
        pp.Optional(word("abstract"))("abstract")
        + skip("game")
        - name("name")
        + pp.Optional(text("text"))
        + pp.Optional(skip("extends") - reference("the name of a game")("parent"))
        + pp.Optional(skip("with") - references("includes"))
        - body,
        lambda sp, t: s.Game(
            t["name"],
            bool(t.get("abstract")),
            t.get("parent"),
            t.flat("includes"),
            t.get("text") or "",
            t.flat("items"),
            sp,
        ),
    )
    module = node(
        skip("module")
        - name("name")
        + pp.Optional(text("text"))
        - skip("for")
        - listed(reference("the name of a game"), "bases")
        + pp.Optional(skip("requires") - references("requires"))
        + pp.Optional(skip("excludes") - references("excludes"))
        + pp.Optional(skip("after") - references("after"))
        - body,
        lambda sp, t: s.Module(
            t["name"],
            t.flat("bases"),
            t.flat("requires"),
            t.flat("excludes"),
            t.flat("after"),
            t.get("text") or "",
            t.flat("items"),
            sp,
        ),
    )
    end = pp.StringEnd().set_name("'game', 'module' or the end of the text")
    grammar: pp.ParserElement = pp.ZeroOrMore(game | module) - end
    grammar.parse_with_tabs()
    return grammar
