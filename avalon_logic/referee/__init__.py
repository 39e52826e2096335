"""Referee tables: what whoever runs the game needs on paper, worked out by playing the model, never typed by hand.

stage, rounds, sight, endings, actions   facts: the engine is asked what is legal, shown and won
messages, wording                        words: message files in en, fr and es, keyed from the rulebook
tables, booklet                          facts and words become tables, pages and a booklet
formats                                  text, Markdown, HTML, CSV, JSON and PDF
"""
