"""
The topic of every word
=======================

Topic modelling by message passing is labelling: each word of each document gets a message, a
distribution over topics. See a text in the colours of its topics, look at the table behind it, and
at what a word hears from its neighbours in the factor graph.
"""

import matplotlib.pyplot as plt
import numpy as np

import topoi
from topoi import plot

corpus = topoi.datasets.load_demo()
model = topoi.LDA(20, random_state=0).fit(corpus)

# %%
# A text in colours
# -----------------
#
# The text is new to the model. Words that it does not know, and stop words, have no colour. In a
# notebook the last line of a cell shows the text; point at a word for its topic.

text = (
    "We drew random samples from a normal distribution and tested the null hypothesis that both"
    " means are equal. A low pass filter then removed the high frequency noise of the signal, and"
    " the eigenvalues of its covariance matrix were computed. A classifier was trained with cross"
    " validation; its score is the average over all labels."
)
model.show(text)

# %%
# The same as a figure, with the words of each topic.

plot.text(model, text)

# %%
# The table behind it
# -------------------
#
# ``label`` takes a corpus or any other form of documents and has a row for each word of a document.
# ``probability`` says how sure the label is.

document = "scipy.stats.ttest_ind"
labels = model.label(corpus[[corpus.doc_names.index(document)]])
labels.sort_values("probability").head()

# %%
# Messages
# --------
#
# ``messages`` are the full distributions, one row for each nonzero of the matrix of counts. Most
# words are sure of their topic; the others hear several.

messages = model.messages(corpus)
figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.hist(messages.max(axis=1), bins=np.linspace(0, 1, 41), color="#2b6cb0")
ax.set(xlabel="probability of the most likely topic", ylabel="words of documents", xlim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)

# %%
# What a word hears
# -----------------
#
# A message is a product of what the other words of the document say, and what the same word says in
# other documents. ``graph`` shows both for one word: in a t-test "means" are averages, elsewhere
# "means" are often those of clusters or a verb.

edge = model.graph(corpus).edge(document, "means")
heard = edge.messages.nlargest(6, "message").iloc[::-1]
figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
rows = np.arange(len(heard))
for shift, column, colour in [
    (-0.27, "from word", "#b8c4d0"),
    (0.0, "from document", "#888888"),
    (0.27, "message", "#2b6cb0"),
]:
    ax.barh(rows - shift, heard[column], 0.25, color=colour, label=column)
ax.set_yticks(rows, [" ".join(model.top_words(3)[k]) for k in heard["topic"]])
ax.set(xlabel="probability", title=f"“{edge.word}” in {edge.document}")
ax.legend(frameon=False, loc="lower right")
ax.spines[["top", "right"]].set_visible(False)
print(f"{len(edge.same_document)} other words, {len(edge.same_word)} other documents")
