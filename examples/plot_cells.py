"""
Cells and regions: counts that are not text
===========================================

Use a topic model on a matrix of cells x genomic regions, as in single-cell ATAC-seq: a cell is a
document, an open region a word, and a topic a set of regions that open together. The data are
synthetic, so that we can compare topics with the programs that the cells were drawn from.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

import topoi
from topoi import evaluate, plot
from topoi.explore.adapters import to_anndata

# %%
# Synthetic cells
# ---------------
#
# Six cell types use five programs of regions in different proportions. All types share the first
# program (housekeeping), and two types differ in one program only. A cell has some hundred reads.

TYPES = ["stem", "progenitor", "B cell", "T cell", "NK cell", "monocyte"]
PROGRAMS = np.array(
    [
        [0.5, 0.5, 0.0, 0.0, 0.0],
        [0.5, 0.3, 0.1, 0.1, 0.0],
        [0.4, 0.0, 0.6, 0.0, 0.0],
        [0.4, 0.0, 0.1, 0.5, 0.0],
        [0.4, 0.0, 0.0, 0.4, 0.2],
        [0.4, 0.0, 0.0, 0.0, 0.6],
    ]
)
rng = np.random.default_rng(0)
n_cells, n_regions = 600, 1000
regions = rng.dirichlet(np.full(n_regions, 0.05), PROGRAMS.shape[1])
kind = np.sort(rng.integers(0, len(TYPES), n_cells))
usage = np.array([rng.dirichlet(30 * PROGRAMS[t] + 0.01) for t in kind])
depth = rng.lognormal(5.5, 0.4, n_cells).astype(int)
counts = np.array([rng.multinomial(n, p) for n, p in zip(depth, usage @ regions, strict=True)])

cells = AnnData(
    sparse.csr_matrix(counts, dtype=np.float32),
    obs=pd.DataFrame(
        {"type": [TYPES[t] for t in kind]}, index=[f"cell{i}" for i in range(n_cells)]
    ),
    var=pd.DataFrame(index=[f"chr1:{500 * i}-{500 * i + 500}" for i in range(n_regions)]),
)
print(cells)

# %%
# Topics of cells
# ---------------
#
# ``topoi.read`` and every model take AnnData. A column of ``obs`` becomes the label of the cells;
# LDA does not look at it.

corpus = topoi.read(cells, labels="type")
model = topoi.LDA(n_components=5, random_state=0).fit(corpus)
partner, similarity = evaluate.match_topics(regions, model)
print("similarity of programs and topics:", similarity.round(3))

# %%
# Each row is a cell, sorted by type; the darker, the more the cell uses the program. The model has
# seen neither the types nor the programs. It underestimates the first program: regions that are
# open in all cells are also explained by the other topics.

figure, axes = plt.subplots(1, 2, figsize=(7, 5.5), sharey=True, layout="constrained")
for ax, table, title in [
    (axes[0], usage, "true programs"),
    (axes[1], model.doc_topic_[:, partner], "topics"),
]:
    image = ax.imshow(table, aspect="auto", cmap="Blues", vmin=0, vmax=0.8, interpolation="none")
    ax.set(title=title, xticks=range(5))
axes[1].set_xticklabels(partner)
starts = np.searchsorted(kind, np.arange(len(TYPES) + 1))
axes[0].set_yticks((starts[:-1] + starts[1:]) / 2, TYPES)
axes[0].tick_params(length=0)
for ax in axes:
    for start in starts[1:-1]:
        ax.axhline(start - 0.5, color="white", linewidth=2)
figure.colorbar(image, ax=axes, label="proportion", shrink=0.6)

# %%
# Topics differ between types, with intervals.

plot.groups(model.topics_by("labels"))

# %%
# How well does the main topic of a cell tell its type? The types share topics, so proportions
# tell more than the main topic alone: ``accuracy`` is that of a classifier that sees all of them.

evaluate.clusters(model, corpus.labels)

# %%
# Back to AnnData
# ---------------
#
# Proportions go to ``obsm``, the regions of topics to ``varm``, where scanpy finds them.

to_anndata(model, cells)
print(cells)
model.show_topic(int(partner[4]), n=5)

# %%
# The explorer page shows topics beside their regions, cells and types.

model.explore(height=650)
