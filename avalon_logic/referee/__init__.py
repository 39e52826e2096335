"""Referee tables: what whoever runs the game needs on paper, worked out by playing the model, never typed by hand.

plan                                   which tables there are and which names of the rulebooks they ask about
stage, rounds, votes, openings,
sight, endings, actions, knowledge     facts: the engine is asked what is legal, shown and won
messages, calling, demands             words: message files in en, fr and es, keyed from the rulebook
player_tables, game_tables, booklet    facts and words become tables, pages and a booklet
formats                                text, Markdown, HTML, CSV, JSON and PDF
"""
