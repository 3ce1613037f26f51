"""
Labels: from tickets to an explained answer
===========================================

Learn from documents that people have labeled, predict the labels of new ones, and see which words
of a document speak for which label. The corpus is synthetic: tickets with one or two labels each.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

import topoi
from topoi import plot

# %%
# Labeled tickets
# ---------------

THEMES = {
    "billing": "invoice refund charge payment card price discount tax receipt subscription",
    "delivery": "parcel courier address late tracking package door arrived box lost",
    "login": "password account email code reset locked sign username browser expired",
    "quality": "broken scratched return screen battery noise defect warranty replace stopped",
}
COMMON = "please help today again order customer thanks problem days week support still"

rng = np.random.default_rng(0)


def ticket():
    """The text of a ticket, and its labels."""
    labels = rng.choice(list(THEMES), rng.choice([1, 2], p=[0.6, 0.4]), replace=False).tolist()
    words = [rng.choice(THEMES[rng.choice(labels)].split()) for _ in range(rng.poisson(9) + 3)]
    words += rng.choice(COMMON.split(), rng.poisson(6) + 1).tolist()
    return " ".join(rng.permutation(words)), labels


tickets = [ticket() for _ in range(900)]
train, test = tickets[:600], tickets[600:]
print(*(f"{text}  {labels}" for text, labels in train[:2]), sep="\n")

# %%
# Fit
# ---
#
# Each label is a topic, and a document uses the topics of its labels only.

corpus = topoi.read([text for text, _ in train], labels=[labels for _, labels in train])
model = topoi.LabeledLDA(random_state=0).fit(corpus)
plot.topics(model)

# %%
# Predict
# -------
#
# Where training documents have several labels, ``predict_proba`` gives the proportion of each label
# in a new document. Tickets with a label have more of its topic than those without.

proportions = model.predict_proba([text for text, _ in test])
figure, axes = plt.subplots(1, len(THEMES), figsize=(9, 2.6), sharey=True, layout="constrained")
for k, (ax, name) in enumerate(zip(axes, model.classes_, strict=True)):
    has = np.array([name in labels for _, labels in test])
    bins = np.linspace(0, 1, 21)
    ax.hist(proportions[has, k], bins, color="#2b6cb0", alpha=0.8, label="with this label")
    ax.hist(proportions[~has, k], bins, color="#b8c4d0", alpha=0.8, label="without")
    ax.set(title=name, xlabel="proportion")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("test tickets")
axes[0].legend(frameon=False, fontsize=8)

# %%
# ``predict`` takes the labels with at least half of the largest proportion (``threshold=0.5``).

predicted = model.predict([text for text, _ in test])
exact = np.mean([set(found) == set(labels) for found, (_, labels) in zip(predicted, test)])
print(f"exactly the right labels: {exact:.0%} of {len(test)} test tickets")

# %%
# Explain
# -------
#
# Which words speak for which label? ``show`` has each word in the colour of its label; ``label`` is
# the same as a table.

model.show("my card shows a charge for the parcel that the courier lost last week, please refund")

# %%
# The explorer page of the model: labels with their words and tickets. Type a ticket of your own
# under *Topics of a text*.

model.explore(height=650)
