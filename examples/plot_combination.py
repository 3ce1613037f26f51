"""
A combination of factors: authors and links
===========================================

Short documents say little about their topics; who wrote them and what they cite says more. Combine
factors in one model and see what each of them adds. The corpus is synthetic: titles of about five
words, whose authors and citations follow topics that we know. As in real collections something is
missing: half of the documents have no named author.
"""

import matplotlib.pyplot as plt
import numpy as np

from topoi import Authors, Corpus, Links, TopicModel, Words, evaluate

# %%
# Titles with authors and citations
# ---------------------------------
#
# Every author writes about some topics, a document has those of its one or two authors, and it
# cites documents with very similar topics.

rng = np.random.default_rng(0)
n_docs, n_authors, n_topics, n_words = 600, 40, 8, 200
topics = rng.dirichlet(np.full(n_words, 0.1), n_topics)
habits = rng.dirichlet(np.full(n_topics, 0.1), n_authors)
teams = [rng.choice(n_authors, rng.integers(1, 3), replace=False) for _ in range(n_docs)]
truth = np.array([habits[team].mean(axis=0) for team in teams])
counts = np.array([rng.multinomial(rng.poisson(4) + 1, p) for p in truth @ topics])
closeness = (truth @ truth.T) ** 3
np.fill_diagonal(closeness, 0)
links = [
    (d, e)
    for d in range(n_docs)
    for e in rng.choice(n_docs, 8, replace=False, p=closeness[d] / closeness[d].sum())
]
known = rng.random(n_docs) < 0.5
authors = [[f"author{a:02}" for a in team] if k else [] for team, k in zip(teams, known)]
corpus = Corpus(counts, [f"w{i}" for i in range(n_words)])
print(corpus, f"{len(links)} citations", sep="\n")

# %%
# Four models, one engine
# -----------------------
#
# A model is a list of factors. ``Words`` alone is LDA; with ``Authors`` it is the author-topic
# model, with ``Links`` the relational topic model, and with both a model without a name. Documents
# without authors own themselves, as in LDA.

lists = {
    "words": [],
    "words, authors": [Authors(authors)],
    "words, links": [Links(links, "learn")],
    "words, authors, links": [Authors(authors), Links(links, "learn")],
}
models = {
    name: TopicModel([Words(corpus), *factors], n_components=n_topics, random_state=0).fit()
    for name, factors in lists.items()
}


def errors(model):
    """Distance (total variation) of each document's proportions from the truth."""
    partner, _ = evaluate.match_topics(topics, model.topic_word_)
    return abs(model.doc_topic_[:, partner] - truth).sum(axis=1) / 2


# %%
# Authors help the documents that have them most, and links help all documents. The combination
# helps both kinds. For documents with authors it is not as good as authors alone: how much links
# decide is one number for all documents, and those without authors need links more.

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for shift, chosen, colour, label in [
    (-0.2, known, "#2b6cb0", "documents with authors"),
    (0.2, ~known, "#b8c4d0", "documents without"),
]:
    values = [errors(model)[chosen].mean() for model in models.values()]
    bars = ax.barh(np.arange(len(models)) + shift, values, 0.36, color=colour, label=label)
    ax.bar_label(bars, [f"{value:.2f}" for value in values], padding=4)
ax.set_yticks(range(len(models)), models)
ax.invert_yaxis()
ax.set(xlabel="error of topic proportions (lower is better)", xlim=(0, 0.6))
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
ax.spines[["top", "right"]].set_visible(False)

# %%
# What the combination knows
# --------------------------
#
# It answers the questions of both models: about authors, and about links. The weight of links is
# learned.

model = models["words, authors, links"]
print(f"links decide {model.link_weight_:.0%} of the topics of a document")
print("authors close to author03:", *model.similar_authors("author03", n=3), sep="\n  ")
print("what should document 0 cite?", *model.recommend_links(corpus.counts[:1], n=3)[0], sep="\n  ")

# %%
# Did the model find what authors write about? Each row is an author, each column a topic.

partner, _ = evaluate.match_topics(topics, model.topic_word_)
order = np.argsort([int(name[-2:]) for name in model.author_names_])
figure, axes = plt.subplots(1, 2, figsize=(6.5, 5), sharey=True, layout="constrained")
for ax, table, title in [
    (axes[0], habits, "true topics of authors"),
    (axes[1], model.author_topic_[order][:, partner], "found"),
]:
    image = ax.imshow(table, aspect="auto", cmap="Blues", vmin=0, vmax=1)
    ax.set(title=title, xlabel="topic")
axes[0].set_ylabel("author")
figure.colorbar(image, ax=axes, label="proportion", shrink=0.6)
