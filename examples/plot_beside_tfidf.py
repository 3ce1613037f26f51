"""
What should this link to? Topics beside TF-IDF
==============================================

Recommend links for new documents, and compare the answer with the plain baseline that everybody
should try first: the cosine of TF-IDF weights. Topics alone lose to it, because they forget which
words exactly a document uses; ``recommend_links`` therefore blends both.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

import topoi
from topoi import evaluate

# %%
# Old and new documents
# ---------------------
#
# The links are the "See Also" sections of the docstrings of NumPy, SciPy and scikit-learn. One
# document of seven is new: the model knows neither its words nor its links.

corpus = topoi.datasets.load_demo()
is_new = np.arange(corpus.n_docs) % 7 == 0
old, new = np.flatnonzero(~is_new), np.flatnonzero(is_new)
model = topoi.RelationalTopicModel(n_components=30, random_state=0).fit(corpus[old])
print(f"linked documents decide {model.link_weight_:.0%} of the topics of a document")

# %%
# One new document
# ----------------

example = next(d for d in new if corpus.doc_names[d].startswith("scipy.stats.ttest"))
print(corpus.doc_names[example])
for name, probability in model.recommend_links(corpus[[example]], n=5)[0]:
    print(f"{probability:6.1%}  {name}")

# %%
# All of them
# -----------
#
# For each new document all old ones are ranked, by three scores. Recall says how many of the true
# links are among the first 5, 10 or 20.

linked = corpus.links + corpus.links.T
truth = [np.flatnonzero(row) for row in linked[new][:, old].toarray()]
place = {name: i for i, name in enumerate(model.doc_names_)}


def scores_of(by):
    """(new, old) scores of the model."""
    found = np.zeros((len(new), len(old)))
    for row, ranked in enumerate(model.recommend_links(corpus[new], n=len(old), by=by)):
        found[row, [place[name] for name, _ in ranked]] = [score for _, score in ranked]
    return found


weights = TfidfTransformer(sublinear_tf=True).fit(corpus.counts[old])
tfidf = (weights.transform(corpus.counts[new]) @ weights.transform(corpus.counts[old]).T).toarray()
compared = {"topics alone": scores_of("topics"), "TF-IDF": tfidf, "blend": scores_of("blend")}

# %%

recall = {
    name: evaluate.ranking_metrics(lambda i, table=table: table[i], truth)
    for name, table in compared.items()
}
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for offset, (name, colour) in zip(
    (-0.27, 0, 0.27), [("topics alone", "#b8c4d0"), ("TF-IDF", "#888888"), ("blend", "#2b6cb0")]
):
    values = [recall[name][f"recall@{k}"] for k in (5, 10, 20)]
    bars = ax.bar(np.arange(3) + offset, values, 0.25, color=colour, label=name)
    ax.bar_label(bars, [f"{value:.2f}" for value in values], padding=2, size=9)
ax.set_xticks(range(3), ["first 5", "first 10", "first 20"])
ax.set(ylabel="recall of links", ylim=(0, 1))
ax.legend(frameon=False, ncols=3, loc="upper left")
ax.spines[["top", "right"]].set_visible(False)

# %%
# When topics are the right tool
# ------------------------------
#
# Topics summarise: they show what documents are about, group them, and follow themes over time. To
# find the one document that belongs to another, the exact words matter more. The same holds for the
# question who wrote a text: ``AuthorTopicModel.predict_authors`` compares words, too. The weights
# of the blend are learned from the links of the old documents.
