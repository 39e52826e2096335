"""A rich console that paints text but never obeys it: control characters in what is printed are shown, not sent."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from avalon_logic.cli.streams import visible


class PlainConsole(Console):
    """As rich's own, but for control characters and for a reader who has gone."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text, style, control = segment
            shown = text if control else visible(text)
            yield segment if shown == text else Segment(shown, style, control)
