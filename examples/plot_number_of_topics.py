"""
How many topics?
================

Learn why training scores cannot tell the number of topics, and how held-out words and stability
can. The corpus is drawn from a model of eight topics, so that we know the answer.
"""

import matplotlib.pyplot as plt

from topoi import LDA, datasets, evaluate, plot

corpus, truth = datasets.make_lda(n_docs=500, n_words=300, n_topics=8, random_state=1)
print(corpus)

# %%
# Training scores always want more topics
# ---------------------------------------
#
# ``score`` and ``perplexity`` infer the topics of a document from the words that they then predict,
# so more topics fit better. ``evaluate.completion`` infers topics from one half of the words and
# predicts the other half.

numbers = [2, 4, 6, 8, 12, 16, 24]
train, test = corpus.split()
models = [LDA(k, random_state=0).fit(train) for k in numbers]
same_words = [model.perplexity(test) for model in models]
other_words = [evaluate.completion(model, test).perplexity for model in models]

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(numbers, same_words, "o-", color="#888", label="the same words: model.perplexity")
ax.plot(numbers, other_words, "o-", label="other words: evaluate.completion")
ax.axvline(8, linestyle=":", color="#888")
ax.annotate("the truth", (8, ax.get_ylim()[1]), (4, -4), textcoords="offset points", va="top")
ax.set(xlabel="topics", ylabel="perplexity of test documents (lower is better)", xticks=numbers)
ax.legend(frameon=False)

# %%
# A recommendation
# ----------------
#
# ``choose_n_components`` fits each number with several seeds. It recommends the smallest number
# whose held-out perplexity is as good as the best one. Stability, the dashed line, says how similar
# the topics of different seeds are: with too many topics, each seed divides them in another way.

choice = evaluate.choose_n_components(LDA(), corpus, numbers)
plot.choice(choice)

# %%
# The table also has coherence (NPMI) and diversity. No single measure decides; the sentence below
# the table says where another one disagrees.

choice

# %%
# Did the recommended model find the topics that the corpus was drawn from? Each true topic is
# matched with one learned topic; a cosine of 1 is the same distribution of words.

model = LDA(choice.best, random_state=0).fit(corpus)
partner, cosine = evaluate.match_topics(truth.topic_word, model.topic_word_)
print(cosine.round(3))
