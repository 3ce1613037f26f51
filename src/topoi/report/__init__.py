"""One HTML page about a fitted model: no scripts, nothing from the network, so it opens anywhere,
travels by mail and prints.
"""

from topoi.report.page import write

__all__ = ["write"]
