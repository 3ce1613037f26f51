"""
Edit topics: merge, split, name, update
=======================================

No model is right at once. Merge topics that you would not tell apart, delete one that is of no
use, split one that mixes two themes, give names, and update the model by new documents. Every edit
makes a new model; the old one stays as it is.
"""

import topoi
from topoi import plot

corpus = topoi.datasets.load_demo()
new = [name.startswith("scipy.signal") for name in corpus.doc_names]
old = corpus[[d for d, is_new in enumerate(new) if not is_new]]
model = topoi.LDA(16, random_state=0).fit(old)

# %%
# Which topics are alike?
# -----------------------
#
# Topics that share many words are joined close to the leaves of the tree.

plot.tree(model)

# %%
# ``topic_tree`` is a table of mergers in the order of ``reduce_topics``: first those that cost the
# least, which also means small topics. ``distance`` compares the words of the two: 0 is the same.

tree = model.topic_tree()
pairs = tree[tree["topics"].str.len() == 2]
closest = pairs.nsmallest(3, "distance")
closest[["left", "right", "distance"]]

# %%
# Merge and name
# --------------
#
# The merged topic takes the place of the first, and all others keep their order.

first, second = sorted(closest["topics"].iloc[0])
print(first, model.top_words(6)[first])
print(second, model.top_words(6)[second])
merged = model.merge_topics([[first, second]]).name_topics("auto")
print(first, merged.topic_names_[first])

# %%
# Split
# -----
#
# LDA on the tokens of one topic finds what it is made of. The largest part keeps the number; the
# others follow after all topics.

largest = int(merged.topic_proportions_.argmax())
split = merged.split_topic(largest, into=2, X=old)
print("before:", " ".join(merged.top_words(8)[largest]))
print("after: ", " ".join(split.top_words(8)[largest]))
print("   and ", " ".join(split.top_words(8)[-1]))

# %%
# ``topic_lineage`` remembers which topic became which, also in the model file.

lineage = split.topic_lineage()
lineage[lineage["old"] != lineage["new"]].head()

# %%
# Update by new documents
# -----------------------
#
# The model has not seen ``scipy.signal``. An update learns from the new documents, with one topic
# more for themes that the model does not know; the other topics keep their numbers and names. The
# table shows how topics changed: ``rising`` words are more frequent in the new documents.

signal = corpus[[d for d, is_new in enumerate(new) if is_new]]
updated = split.update(signal, new_topics=1)
updated.name_topics({len(updated.components_) - 1: "signal processing"})
drift = updated.topic_drift(split)
drift.sort_values("now", ascending=False)[["name", "before", "now", "drift", "rising"]].head(4)

# %%
# The new topic, and its documents.

plot.words(updated, len(updated.components_) - 1)

# %%

updated.representative_documents("signal processing", n=5)[["document", "proportion"]]

# %%
# The same edits can be made on the explorer page: give names, mark topics to merge or delete, and
# save ``edits.json``, which ``model.edit_topics`` and ``topoi edit --from`` take.

updated.explore(height=700)
