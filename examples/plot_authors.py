"""
Authors: who writes about what?
===============================

Find the topics of authors, authors who are close to each other, and whom to ask about a subject.
The authors are those whom the docstrings of NumPy, SciPy and scikit-learn cite in their references.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

import topoi
from topoi import plot

# %%
# Documents with authors
# ----------------------
#
# Only documents with references have authors. Many authors are cited once; those cited several
# times are of interest here.

corpus = topoi.datasets.load_demo()
cited = [d for d, authors in enumerate(corpus.authors) if len(authors)]
model = topoi.AuthorTopicModel(n_components=15, random_state=0).fit(corpus[cited])
model.name_topics("auto")
plot.topics(model)

# %%
# Authors and their topics
# ------------------------
#
# ``author_info`` is a table of all authors with their main topics.

info = model.author_info(min_documents=4).sort_values("documents", ascending=False)
info.head(6)

# %%
# The twelve authors with most documents: the darker, the more an author writes about the topic.

names = info["author"].head(12).tolist()
table = model.author_topic_[[list(model.author_names_).index(name) for name in names]]
used = np.flatnonzero(table.max(axis=0) > 0.1)
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
image = ax.imshow(table[:, used].T, cmap="Blues", vmin=0, vmax=1, aspect="auto")
ax.set_xticks(range(len(names)), names, rotation=35, ha="right")
ax.set_yticks(range(len(used)), [model.topic_names_[k] for k in used])
figure.colorbar(image, label="proportion", shrink=0.7)

# %%
# Questions
# ---------
#
# Who is close to an author? Similarity is that of topic proportions: 1 is the same.

print(names[0])
for name, similarity in model.similar_authors(names[0], n=4, min_documents=2):
    print(f"  {similarity:.2f}  {name}")

# %%
# Whom to ask about a subject? The answers are probabilities. They compare the words of the question
# with the words of each author, smoothed by the author's topics.

for question in ("sparse eigenvalues of large matrices", "nonparametric test of two samples"):
    print(question)
    for name, probability in model.who_writes_about(question, n=3, min_documents=2):
        print(f"  {probability:5.1%}  {name}")

# %%
# The explorer page has the authors of each topic and the topics of each author.

model.explore(height=700)
