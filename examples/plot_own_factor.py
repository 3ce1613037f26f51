"""
Your own factor: documents with a place
=======================================

Write a factor of your own and give it to the engine. Here documents are spots on a map, as in
spatial transcriptomics or geotagged messages, and have few words each. The factor says that
neighbours have similar topics. Twenty lines of Python; threads, learned priors and evaluation come
with topoi.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from topoi import LDA, Corpus, TopicModel, Words, evaluate

# %%
# Spots on a map
# --------------
#
# A map of 40 x 40 spots with four topics: three areas on a background. Every spot has about five
# tokens.

SIDE, TOPICS, TOKENS = 40, 4, 5
rng = np.random.default_rng(0)
y, x = np.mgrid[:SIDE, :SIDE] / SIDE
area = np.zeros((SIDE, SIDE), dtype=int)
area[(x - 0.35) ** 2 + (y - 0.35) ** 2 < 0.07] = 1
area[(abs(x - 0.75) < 0.12) & (y < 0.8)] = 2
area[y > 0.75 + 0.08 * np.sin(9 * x)] = 3
truth = np.full((SIDE * SIDE, TOPICS), 0.05)
truth[np.arange(SIDE * SIDE), area.ravel()] = 1 - 0.05 * (TOPICS - 1)
topics = rng.dirichlet(np.full(60, 0.5), TOPICS)
counts = [rng.multinomial(n, p) for n, p in zip(rng.poisson(TOKENS, SIDE**2), truth @ topics)]
corpus = Corpus(np.array(counts), [f"gene{i}" for i in range(60)])
print(corpus)

# %%
# The factor
# ----------
#
# A field is a message from other documents: ``message`` gets the topic proportions of all documents
# and returns what each one hears. ``weight`` is how much that counts beside the document's own
# words; with ``learn`` it is learned.


class Neighbours:
    """A field: a document hears the mean topics of its neighbours."""

    def __init__(self, adjacency, weight=0.1, learn=True):
        self.adjacency, self.weight, self.learn = adjacency, weight, learn

    def add_to(self, plan):
        plan.fields.append(self)

    def message(self, doc_topic, doc_weight):
        """(D, K) rows that sum to 1, from (D, K) proportions and (D,) lengths of documents."""
        heard = self.adjacency @ (doc_topic * doc_weight[:, None])
        return heard / np.maximum(heard.sum(axis=1, keepdims=True), 1e-300)


line = sparse.diags_array(np.ones((2, SIDE)), offsets=[-1, 1], shape=(SIDE, SIDE))
grid = sparse.csr_array(sparse.kronsum(line, line))

# %%
# Fit
# ---
#
# A model is a list of factors. Without the field it is LDA.

lda = LDA(TOPICS, random_state=0).fit(corpus)
near = TopicModel([Words(corpus), Neighbours(grid)], n_components=TOPICS, random_state=0).fit()
print(f"neighbours decide {near.factors_[-1].weight:.0%} of a document's topics")

# %%
# Compare
# -------
#
# The colour of a spot mixes the colours of its topics in their proportions.

COLOURS = np.array([[0.92, 0.92, 0.90], [0.16, 0.42, 0.70], [0.85, 0.37, 0.01], [0.18, 0.55, 0.34]])


def matched(model):
    """Topic proportions of spots, in the order of the true topics."""
    return model.doc_topic_[:, evaluate.match_topics(topics, model.topic_word_)[0]]


shown = {"truth": truth, "LDA": matched(lda), "with neighbours": matched(near)}
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for ax, (title, proportions) in zip(axes, shown.items(), strict=True):
    ax.imshow((proportions @ COLOURS).reshape(SIDE, SIDE, 3).clip(0, 1))
    right = (proportions.argmax(axis=1) == area.ravel()).mean()
    ax.set_title(f"{title}" if title == "truth" else f"{title}: {right:.0%} right")
    ax.axis("off")

# %%
# The same factor works with other rules, such as ``rule="gibbs"``, with authors and with links: put
# all of them into one list. ``topoi.Dates`` and ``topoi.Links`` are fields like this one.
