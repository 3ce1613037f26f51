"""The page of a model in a notebook cell."""

from __future__ import annotations

from topoi.report.markup import Html, element

__all__ = ["Explorer"]


class Explorer:
    """A page that notebooks show in a frame of its own.

    Parameters
    ----------
    page : Html
        The whole page.
    n_topics : int
        Topics of its model.
    height : int
        Of the frame, in pixels.

    Examples
    --------
    >>> Explorer(Html("<!doctype html>"), 3, 400)
    Explorer of 3 topics: shown in a notebook; elsewhere write the page with report(path).
    """

    def __init__(self, page: Html, n_topics: int, height: int) -> None:
        self.page, self.n_topics, self.height = page, n_topics, height

    def _repr_html_(self) -> str:
        """A frame that may run scripts and save files, but reaches nothing of the notebook."""
        return element(
            "iframe",
            srcdoc=str(self.page),
            sandbox="allow-scripts allow-downloads allow-modals",
            title=f"Explorer of {self.n_topics} topics",
            width="100%",
            height=self.height,
            style="border: 0",
        )

    def __str__(self) -> str:
        return str(self.page)

    def __repr__(self) -> str:
        return (
            f"Explorer of {self.n_topics} topics: shown in a notebook; elsewhere write the page"
            " with report(path)."
        )
