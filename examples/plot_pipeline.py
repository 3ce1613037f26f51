"""
scikit-learn: pipelines and grid search
=======================================

Use topics as features of a classifier, choose their number by grid search, and find the number by
held-out words when there are no labels. Every model is a scikit-learn estimator.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from topoi import LDA, datasets, evaluate

# %%
# Texts and classes
# -----------------
#
# The docstrings of five subpackages.

demo = datasets.load_demo()
wanted = ["scipy.optimize", "scipy.ndimage", "sklearn.metrics", "sklearn.linear_model", "numpy.ma"]
chosen = [(text, label[0]) for text, label in zip(demo.texts, demo.labels) if label[0] in wanted]
texts, classes = [text for text, _ in chosen], np.array([label for _, label in chosen])
print(len(texts), "texts")

# %%
# A pipeline
# ----------
#
# Counts, topics, classifier: any scikit-learn step can stand before or after a model.

pipeline = make_pipeline(
    CountVectorizer(stop_words="english", min_df=3, max_df=0.3),
    LDA(max_iter=50, random_state=0),
    LogisticRegression(C=10, max_iter=1000, class_weight="balanced"),
)
pipeline.set_params(lda__n_components=10).fit(texts, classes)
print(pipeline.predict(["A Gaussian filter of an image.", "Mean squared error of predictions."]))

# %%
# Grid search
# -----------
#
# How many topics does the classifier need? For comparison, the same classifier on some thousand
# TF-IDF weights. Topics are a summary: ten or twenty numbers keep most of what tells classes apart,
# but not all of it.

numbers = [3, 5, 10, 20]
search = GridSearchCV(pipeline, {"lda__n_components": numbers}, cv=3).fit(texts, classes)
tfidf = make_pipeline(
    TfidfVectorizer(stop_words="english", min_df=3, max_df=0.3, sublinear_tf=True),
    LogisticRegression(C=10, max_iter=1000, class_weight="balanced"),
)
words_alone = cross_val_score(tfidf, texts, classes, cv=3).mean()

found = search.cv_results_
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.errorbar(numbers, found["mean_test_score"], found["std_test_score"], fmt="o-", capsize=3)
ax.axhline(words_alone, color="#888", linestyle="--")
ax.annotate("TF-IDF", (numbers[0], words_alone), (0, 4), textcoords="offset points", color="#666")
ax.set_xscale("log")
ax.set_xticks(numbers, map(str, numbers))
ax.minorticks_off()
ax.set(xlabel="topics", ylabel="accuracy (3-fold cross-validation)", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)

# %%
# Without classes
# ---------------
#
# ``score`` infers topics from the words that it scores, and so always prefers more of them. Use
# held-out words as the score of a grid search: one half of each test document tells its topics, the
# other half is predicted.


def held_out(model, X, y=None):
    """The lower the perplexity of held-out words, the better."""
    return -evaluate.completion_perplexity(model, X)


counts = CountVectorizer(stop_words="english", min_df=3, max_df=0.3).fit_transform(texts)
search = GridSearchCV(
    LDA(max_iter=50, random_state=0), {"n_components": [5, 10, 20, 40, 80]}, scoring=held_out, cv=3
).fit(counts)
print(search.best_params_, "perplexity:", (-search.cv_results_["mean_test_score"]).round())

# %%
# Here the largest number is the best one: docstrings repeat each other's sentences, so even narrow
# topics predict words. If that happens, try larger numbers. ``evaluate.choose_n_components`` says
# so by itself, and shows how stable the topics are.
