"""
First topics: what NumPy, SciPy and scikit-learn are about
==========================================================

Fit a topic model to real text, look at its topics from several sides, and explore them on an
interactive page. The corpus is the documentation that is installed on your machine: the docstrings
of every public function and class of NumPy, SciPy and scikit-learn.
"""

# sphinx_gallery_thumbnail_number = 3
import topoi
from topoi import plot

corpus = topoi.datasets.load_demo()
print(corpus)

# %%
# Fit
# ---
#
# Your own documents are read by ``topoi.read``: a CSV file, a folder, a data frame, a list of
# texts. All parameters but the number of topics have defaults that suit most corpora. The same
# seed gives the same topics, on any number of threads.

model = topoi.LDA(n_components=20, random_state=0).fit(corpus)
print(f"{model.n_iter_} sweeps, converged: {model.converged_}")

# %%
# Read the topics
# ---------------
#
# A bar is as long as the proportion of all tokens that are about the topic.

plot.topics(model)

# %%
# Which topics are about some words?

found = model.find_topics("hypothesis test", n=3)
found

# %%
# The blue part of a bar counts the tokens of a word that are about this topic, the grey part those
# that are about others. ``relevance`` below 1 prefers words that are typical of a topic to frequent
# ones.

best = int(found["topic"].iloc[0])
plot.words(model, best, relevance=0.6)

# %%
# From topics to documents
# ------------------------
#
# These documents are the most about that topic.

model.representative_documents(best, n=5)[["document", "proportion"]]

# %%
# A map of documents: each is a point in the colour of its main topic, and documents with similar
# topics are close to each other.

plot.documents(model, n_documents=700, n_words=2)

# %%
# Explore
# -------
#
# ``model.report("topics.html")`` writes one HTML file that needs no network: a map of the topics,
# their words, documents and authors, a search, and a field for texts of your own. In a notebook,
# ``explore`` shows the same page in a cell. Try it: select a topic, or search for a word. The names
# of the topics are made of their typical words by ``name_topics("auto")``.

model.name_topics("auto").explore(height=700)
