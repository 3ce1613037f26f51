"""What `startup` times: a process of its own from `import` to topics.

Usage: python -m benchmarks.first_fit CORPUS.npz K [HIDDEN ...]

HIDDEN: packages that are to look as if they were not installed.
"""

import time

BEGAN = time.perf_counter()

import json  # noqa: E402
import sys  # noqa: E402

sys.modules.update(dict.fromkeys(sys.argv[3:]))

from topoi import LDA  # noqa: E402
from topoi.datasets import load_npz  # noqa: E402
from topoi.infer import kernels, likelihood  # noqa: E402


def main(path: str, n_topics: str) -> None:
    imported = time.perf_counter()
    corpus = load_npz(path)
    loaded = time.perf_counter()
    model = LDA(int(n_topics)).fit(corpus)
    for k, words in enumerate(model.top_words(8)):
        print(k, *words)
    done = time.perf_counter()
    stats = [
        kernel.stats
        for kernel in [*vars(kernels).values(), *vars(likelihood).values()]
        if hasattr(kernel, "stats")
    ]
    report = {
        "import": imported - BEGAN,
        "load": loaded - imported,
        "fit": done - loaded,
        "total": done - BEGAN,
        "sweeps": model.n_iter_,
        "compiled": sum(sum(s.cache_misses.values()) for s in stats),
        "from_cache": sum(sum(s.cache_hits.values()) for s in stats),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:3])
