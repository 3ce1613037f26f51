"""Kernels are compiled once: not again by a second fit, not again by a second process, and not at
all by `topoi --help`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support import MODEL_COMBINATIONS, run_python

from topoi import LDA, datasets, evaluate, rules, warmup
from topoi.infer import kernels, likelihood
from topoi.tuning import Tuning, current, use


def compiled_kernels() -> dict:
    """The compiled functions that the rest of the library calls."""
    return {
        name: f
        for name, f in {**vars(kernels), **vars(likelihood)}.items()
        if hasattr(f, "signatures") and not name.startswith("_")
    }


def tally() -> dict[str, tuple[int, int]]:
    """Signatures and cache misses of each kernel so far."""
    return {
        name: (len(f.signatures), sum(f.stats.cache_misses.values()))
        for name, f in compiled_kernels().items()
    }


def use_everything(n_topics: int, **options) -> None:
    """Every rule and schedule, and what one does with a model."""
    use(Tuning(warm_up_from=0))  # small corpora too; `quick` puts it back
    corpus, _ = datasets.make_blocks(random_state=n_topics)
    for rule, schedule in MODEL_COMBINATIONS:
        model = LDA(n_topics, rule=rule, schedule=schedule, max_iter=12, **options).fit(corpus)
        model.transform(corpus.counts)
    LDA(300, max_iter=21, **options).fit(corpus)  # so many topics that documents get lists
    LDA(n_topics, rule=rules.BP(messages="none"), max_iter=3, **options).fit(corpus)
    LDA(n_topics, batch_size=30, max_iter=12, **options).fit(corpus)
    evaluate.completion_perplexity(model, corpus)
    evaluate.completion_perplexity(model.components_, corpus.counts, fold_in_rule="gibbs")
    evaluate.left_to_right(model, corpus[:3], n_particles=2)


@pytest.fixture(scope="module", autouse=True)
def quick():
    before = current()
    yield
    use(before)


@pytest.fixture(scope="module")
def used():
    use_everything(4)
    return tally()


def test_a_second_fit_compiles_nothing(used):
    """Another number of topics (and another padding), other rules, starts, weights, threads,
    formats: the same machine code.
    """
    assert used["visit_singles"][0] >= 1
    use_everything(20)
    use_everything(3, n_jobs=2)
    use_everything(3, init="soft", doc_topic_prior=0.1, topic_word_prior=0.01, random_state=5)
    corpus, _ = datasets.make_blocks(random_state=0)
    dense = corpus.counts.toarray()
    for X in (
        dense,
        dense.astype(np.float32),
        dense.astype(np.int32),
        corpus.counts.tocsc(),
        np.asfortranarray(dense),
    ):
        first = LDA(4, max_iter=12).fit(X)
    LDA(4, max_iter=12, weighting="tfidf").fit(corpus).transform(dense * 0.5)
    LDA(4, max_iter=12, init=first).fit(corpus)
    LDA(4, max_iter=2, batch_size=30).fit(corpus).partial_fit(dense)
    LDA(4, max_iter=5, rule=rules.VB(inner=2, textbook=True)).fit(corpus)
    assert tally() == used


def test_a_second_process_loads_from_the_cache(used):
    """No miss. And one signature for each kernel, or one for each of its variants: graph arrays are
    always read-only, tables never.
    """
    code = """
import json, sys
sys.path.insert(0, %r)
import test_compilation
test_compilation.use_everything(4)
def stats(f):
    cached = (f.stats.cache_hits, f.stats.cache_misses)
    return [len(f.signatures), *(sum(n.values()) for n in cached)]
kernels = test_compilation.compiled_kernels()
print(json.dumps({name: stats(f) for name, f in kernels.items()}))
"""
    stats = json.loads(run_python(code % str(Path(__file__).parent)).stdout)
    assert {name: misses for name, (_, _, misses) in stats.items()} == dict.fromkeys(stats, 0)
    used_kernels = {name: hits for name, (_, hits, _) in stats.items() if hits}
    assert {
        "visit_singles",
        "gibbs_stage",
        "start_stage",
        "count_singles",
        "log_likelihood",
        "left_to_right",
    } <= set(used_kernels)
    # With topic lists or without; in place or not; with digammas or without.
    variants = dict.fromkeys(
        ("visit_singles", "visit_any", "count_singles", "count_joint_stage", "recall_stage",
         "restore_stage",
         "stateless_start_stage", "stateless_stage"), 2
    ) | {"infer_stage": 4}  # fmt: skip
    for name, (signatures, _, _) in stats.items():
        assert signatures <= variants.get(name, 1)


def test_after_a_warm_up_a_first_fit_compiles_nothing(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    run_python("import topoi; topoi.warmup(['lda'])", **cache)
    code = """
from topoi import LDA, datasets
from topoi.infer.kernels.cache import on_first_compilation
from topoi.tuning import tuned
on_first_compilation(lambda: print("compiled"))
corpus, _ = datasets.make_lda(200, 100, 5, random_state=0)
with tuned(warm_up_from=0):  # as on a large corpus
    LDA(7).fit(corpus).transform(corpus)
"""
    assert run_python(code, **cache).stdout == ""


def test_a_warm_up_of_nothing_known_is_refused():
    with pytest.raises(ValueError, match="'lda', 'authors'"):
        warmup(["hdp"])


@pytest.mark.parametrize(
    "code",
    [
        "import topoi",
        "import topoi; topoi.__version__; dir(topoi)",
        "import topoi.cli",
        (
            "from typer.testing import CliRunner; from topoi.cli import app; assert 'demo' in"
            " CliRunner().invoke(app, ['--help']).output"
        ),
        (
            "from typer.testing import CliRunner; from topoi.cli import app; assert"
            " '--n-components' in CliRunner().invoke(app, ['demo', '--help']).output"
        ),
    ],
)
def test_numba_waits_until_it_is_needed(code):
    heavy = run_python(
        f"{code}\nimport sys; print(sorted({{'numba', 'llvmlite', 'sklearn', 'scipy'}} &"
        " set(sys.modules)))"
    ).stdout
    assert heavy.strip() == "[]"


def test_a_model_imports_neither_reports_nor_measures_nor_progress_bars():
    late = ["rich", "matplotlib", "sklearn.metrics", "topoi.evaluate", "topoi.report.page"]
    code = f"from topoi import LDA; import sys; print(sorted(set({late}) & set(sys.modules)))"
    assert run_python(code).stdout.strip() == "[]"


def test_the_command_shows_its_help():
    """`topoi --help` as installed, without Numba."""
    code = """
import sys
sys.argv = ["topoi", "--help"]
from topoi.cli import main
try:
    main()
except SystemExit as stop:
    assert not stop.code
assert "numba" not in sys.modules
"""
    assert "belief propagation" in run_python(code).stdout


def test_everything_public_can_be_imported():
    import topoi

    for name in topoi.__all__:
        assert getattr(topoi, name) is not None
    assert set(topoi.__all__) <= set(dir(topoi))
    with pytest.raises(AttributeError, match="no attribute 'LSA'"):
        topoi.LSA  # noqa: B018
