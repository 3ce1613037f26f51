"""
Which topics grew? Time, groups and intervals
=============================================

Follow topics over time, compare groups of documents, and see how sure the answers are. The corpus
is a synthetic changelog: 1,500 entries of three programs in ten years. It is drawn from known
proportions, so that we can check what the model says.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np

import topoi
from topoi import plot

# %%
# A changelog with a known history
# --------------------------------
#
# Security becomes more frequent with the years and documentation less; the editor has most changes
# of the interface, the server most of the storage.

THEMES = {
    "security": "vulnerability certificate password token injection escape audit encryption",
    "speed": "faster cache memory latency parallel vectorised benchmark profile",
    "interface": "button menu dialog icon layout colour keyboard theme",
    "documentation": "example tutorial typo docstring guide link reference glossary",
    "storage": "database index migration schema query transaction backup column",
}
PROGRAMS = {"editor": [1, 1, 4, 1, 1], "server": [1, 1, 0.3, 1, 4], "library": [1, 3, 0.3, 2, 1]}

rng = np.random.default_rng(0)
words = [list_of_words.split() for list_of_words in THEMES.values()]
entries, truth = [], []
for _ in range(1500):
    year, program = int(rng.integers(2015, 2025)), str(rng.choice(list(PROGRAMS)))
    passed = (year - 2015) / 9
    growth = [0.3 + 2 * passed, 1, 1, 2 - 1.7 * passed, 1]
    expected = np.array(PROGRAMS[program]) * growth
    expected /= expected.sum()
    proportions = rng.dirichlet(2 * expected)
    themes = rng.choice(len(THEMES), size=18, p=proportions)
    text = " ".join(rng.choice(words[k]) for k in themes)
    month = int(rng.integers(1, 13))
    entries.append({"text": text, "date": f"{year}-{month:02}", "program": program})
    truth.append(expected)
print(entries[0])

# %%
# ``topoi.read`` takes dates and further columns; the model keeps them.

corpus = topoi.read(entries, text="text", dates="date", groups=["program"], keep_text=True)
model = topoi.LDA(len(THEMES), random_state=0).fit(corpus)


def theme_of(typical, documents):
    """The theme of the most typical word."""
    return next(theme for theme in THEMES if typical[0] in THEMES[theme].split())


model.name_topics(theme_of)
plot.topics(model)

# %%
# Prevalence over time
# --------------------
#
# The prevalence of a topic is the mean of its proportions in the documents of a year. The band is a
# 95 % interval. The dotted lines are the truth, which you would not have.

table = model.topics_over_time(by="year")
ax = plot.over_time(table)
years = np.array([int(entry["date"][:4]) for entry in entries])
starts = np.array([f"{year}-01-01" for year in range(2015, 2025)], dtype="datetime64[D]")
expected = np.array([np.mean(np.array(truth)[years == year], axis=0) for year in range(2015, 2025)])
for line, name in zip(ax.lines[: len(THEMES)], model.topic_names_, strict=True):
    ax.plot(starts, expected[:, list(THEMES).index(name)], ":", color=line.get_color())

# %%
# How often does an interval contain the truth? On average 95 % of them should. One corpus may be
# above or below: this one is below, and misses come together, because the topics of a year sum to
# one. ``python -m benchmarks trends`` counts over fifty corpora.

table["truth"] = [
    expected[int(period) - 2015, list(THEMES).index(name)]
    for period, name in zip(table["period"], table["name"], strict=True)
]
covered = table["truth"].between(table["low"], table["high"])
print(f"{covered.sum()} of {len(covered)} intervals contain the truth")

# %%
# Groups
# ------
#
# The same for the three programs.

plot.groups(model.topics_by("program"))

# %%
# Both at once
# ------------
#
# A regression for each topic says how its proportion changes per year while the program stays the
# same. Which topics grew? Those whose interval for ``date`` is above zero.

effects = model.topic_effects(["date", "program"])
effects[effects["term"] == "date"][["name", "estimate", "low", "high", "p"]].round(4)

# %%
# The explorer page shows the same trends and groups beside the words and entries of each topic.

model.explore(height=700)
