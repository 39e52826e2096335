"""Many games at once: where they come from, who works on them, and what is kept of the answers.

`sources` gives one game after another from files, folders and pipes, `pool` has them judged in processes of their own,
each game within bounds, `journal` keeps the answers so that an interrupted run goes on. Nothing grows with the number
of games but a few bytes for each game already answered.
"""
