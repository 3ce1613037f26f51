"""
Seed words: topics that you want
================================

Say by a few words what some topics should be about, and leave the others free. Learn what seeds do
when the corpus has the theme, and when it does not.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

import topoi
from topoi import plot

corpus = topoi.datasets.load_demo()

# %%
# Without seeds
# -------------
#
# Sixteen topics of the docstrings of NumPy, SciPy and scikit-learn. Is there one about decision
# trees, one about files?

plain = topoi.LDA(16, random_state=0).fit(corpus)
for text in ("tree forest", "file read"):
    topic = int(plain.find_topics(text, n=1)["topic"].iloc[0])
    print(f"{text}:", " ".join(plain.top_words(8)[topic]))

# %%
# With seeds
# ----------
#
# Three topics are seeded; the other thirteen are free. Seeded topics come first, and have the names
# of their seeds.

seeds = {
    "trees": ["tree", "trees", "forest", "leaf"],
    "files": ["file", "read", "bytes"],
    "clusters": ["cluster", "clusters", "centroids"],
}
model = topoi.LDA(16, seeds=topoi.Seeds(seeds, strength=200), random_state=0).fit(corpus)
plot.topics(model)

# %%
# A seed is a pull, not a command: each seed word has a higher prior in its topic, and the documents
# decide the rest. The topic gathers the words that occur with the seeds, which are in bold type.

figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
for topic, ax in enumerate(axes):
    plot.words(model, topic, n_words=12, ax=ax)
    for label in ax.get_yticklabels():
        if label.get_text() in seeds[model.topic_names_[topic]]:
            label.set_fontweight("bold")
    if topic:
        ax.get_legend().remove()

# %%
# How strong should a seed be?
# ----------------------------
#
# The strength is a number of tokens. A weak seed chooses among the topics that the corpus has
# anyway. A strong one can gather more tokens of its words, as for trees; words that documents use
# for something else, such as "read", stay elsewhere. The default grows with the corpus and is a
# weak one: as many tokens as the word has, and at most 0.5 % of an average topic.

strengths = [1, 10, 100, 1000]
column = {word: i for i, word in enumerate(model.vocabulary_)}


def in_its_topic(model):
    """For each seeded topic the proportion of its seeds' tokens that it holds."""
    tokens = model.components_ - model.topic_word_prior_
    places = [[column[word] for word in words] for words in seeds.values()]
    return [tokens[k, p].sum() / tokens[:, p].sum() for k, p in enumerate(places)]


def fitted(strength):
    seeded = topoi.Seeds(seeds, strength=strength)
    return topoi.LDA(16, seeds=seeded, random_state=0).fit(corpus)


found = np.array([in_its_topic(fitted(strength)) for strength in strengths])
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for name, line in zip(seeds, found.T, strict=True):
    ax.semilogx(strengths, line, "o-", label=name)
ax.set(xlabel="strength of seeds (tokens)", ylabel="seed words in their topic", ylim=(0, 1.02))
ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# The explorer page of the seeded model.

model.explore(height=650)
