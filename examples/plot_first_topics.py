"""
First topics
============

Fit LDA to a synthetic corpus whose five topics are known, and look at what it found.
"""

import topoi

corpus, truth = topoi.datasets.make_lda()
model = topoi.LDA(n_components=5).fit(corpus)
for words in model.top_words(6):
    print(" ".join(words))

# %%
# Each topic with its proportion of all tokens:

topoi.plot.topics(model)
