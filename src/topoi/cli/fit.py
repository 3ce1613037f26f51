"""`topoi fit`: from documents to a model file."""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.choices import RULES, SCHEDULES, WEIGHTINGS
from topoi.cli.cluster import connected
from topoi.cli.interrupt import Interrupt, command_to_resume
from topoi.cli.kinds import NAMES, Kind, chosen_kind, make_estimator, mention_documents_without
from topoi.cli.options import (
    N_COMPONENTS,
    AsJson,
    Columns,
    Force,
    Guide,
    Inputs,
    Jobs,
    Seed,
    Words,
    choice,
    option,
    tolerance,
)
from topoi.cli.out_of_core import is_out_of_core, kind_of_source, read_source
from topoi.cli.output import announce_compilation, note, show, show_json
from topoi.cli.reading import inputs_of, load_model, read_corpus
from topoi.cli.show import topic_rows, topics_table

if TYPE_CHECKING:
    from topoi.protocols import FittedModel

    Preset = Enum
    Rule = Enum
    Schedule = Enum
    Weighting = Enum
else:
    Preset = choice("Preset", ["paper"])
    Rule = choice("Rule", RULES)
    Schedule = choice("Schedule", SCHEDULES)
    Weighting = choice("Weighting", WEIGHTINGS)

USUAL_TOPICS = 20
MOST_TOPICS = 20  # shown after a fit
USUAL_RULE, USUAL_SCHEDULE, USUAL_WEIGHTING = Rule("bp"), Schedule("auto"), Weighting("count")
LEARNING, SAVING = "How topics are learned", "What is saved"


@dataclass
class Learning:
    """How messages are renewed, how often, and what they start from."""

    preset: Annotated[
        Preset | None,
        option(
            LEARNING,
            "'paper': synchronous sweeps, priors 0.01, 1000 sweeps of LDA and 500 of the others;"
            " options that are given as well take precedence.",
        ),
    ] = None
    rule: Annotated[Rule, option(LEARNING, "How messages are updated.", show_default=True)] = (
        USUAL_RULE
    )
    schedule: Annotated[
        Schedule, option(LEARNING, "In which order messages are updated.", show_default=True)
    ] = USUAL_SCHEDULE
    max_iter: Annotated[
        int, option(LEARNING, "Maximum number of sweeps.", min=1, show_default=True)
    ] = 200
    tol: Annotated[
        str,
        option(
            LEARNING,
            "Stop when perplexity changes by less than this proportion; or a rule of the paper:"
            " 'paper', 'parameters'.",
            show_default=True,
        ),
    ] = "1e-4"
    weighting: Annotated[
        Weighting, option(LEARNING, "Weights that messages carry.", show_default=True)
    ] = USUAL_WEIGHTING
    batch_size: Annotated[
        int | None,
        option(LEARNING, "LDA: blocks of this many documents in turn, to save memory.", min=1),
    ] = None
    out_of_core: Annotated[
        bool | None,
        option(
            LEARNING,
            "Read documents block by block, again and again, in memory that does not grow with"
            " their number (default: if the input is larger than memory allows).",
            "--out-of-core/--in-memory",
        ),
    ] = None
    cluster: Annotated[
        str | None,
        option(
            LEARNING,
            "Fit on the workers of a Dask cluster, such as tcp://scheduler:8786. They must be able"
            " to read the input, or the counts in --cache.",
        ),
    ] = None
    seed: Seed = 0
    jobs: Jobs = None
    init: Annotated[
        Path | None, option(LEARNING, "A model whose topics and words to start from.")
    ] = None

    def parameters(self) -> dict[str, object]:
        """Of the model. A preset has its own defaults, and only what differs from ours counts."""
        given = {
            "rule": self.rule.value,
            "schedule": self.schedule.value,
            "max_iter": self.max_iter,
            "tol": tolerance(self.tol),
            "weighting": self.weighting.value,
        }
        if self.preset is not None:
            usual = Learning().parameters()
            given = {name: value for name, value in given.items() if value != usual[name]}
        return {**given, "n_jobs": self.jobs or -1, "random_state": self.seed}


@dataclass
class Saving:
    """What is saved beside the model, and meanwhile."""

    keep_text: Annotated[
        bool, option(SAVING, "Keep the texts in the model file, to show them.", "--keep-text")
    ] = False
    checkpoint: Annotated[
        Path | None,
        option(SAVING, "Save the run here until the model is saved; the same command resumes it."),
    ] = None
    cache: Annotated[
        Path | None,
        option(SAVING, "Out of core: a folder to keep counts in; the same command reuses them."),
    ] = None
    checkpoint_every: Annotated[
        int, option(SAVING, "Sweeps between two savings of the run.", min=1, show_default=True)
    ] = 10

    def options(self) -> dict[str, object]:
        """How `fit` of a model is told."""
        if self.checkpoint is None:
            return {}
        return {"checkpoint": self.checkpoint, "checkpoint_every": self.checkpoint_every}


def fit(
    input: Inputs,
    columns: Columns,
    words: Words,
    guide: Guide,
    learning: Learning,
    saving: Saving,
    n_components: Annotated[
        int | None,
        typer.Option(
            *N_COMPONENTS, min=1, help="Number of topics (default: 20).", show_default=False
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file.")] = Path(
        "model.topoi"
    ),
    force: Force = False,
    model: Annotated[
        Kind | None,
        typer.Option(
            help="Default: by what is given of authors, links and labels.", show_default=False
        ),
    ] = None,
    background: Annotated[
        int, typer.Option(min=0, help="Labeled LDA: topics beside the labels.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Learn topics from documents and write them to a model file.

    Ctrl-C keeps the last finished sweep.
    """
    init, checkpoint = learning.init, saving.checkpoint
    others = [path for path in (init, guide.seeds) if path is not None]
    inputs = [*inputs_of(input, columns, words), *others]
    _check_outputs(output, checkpoint, inputs, force)
    seeds = guide.given()
    begin = load_model(init) if init else None
    if learning.cluster is not None or is_out_of_core(input, columns, learning.out_of_core):
        corpus: Any = read_source(
            input, columns, words, begin, saving.cache, shared=learning.cluster is not None
        )
        kind, n_docs = kind_of_source(model, columns), corpus.n_documents
    else:
        corpus = read_corpus(input, columns, words, like=begin, keep_text=saving.keep_text)
        kind, n_docs = chosen_kind(model, corpus, columns), corpus.n_docs
        mention_documents_without(kind, corpus)
    if n_docs < 2:
        raise ValueError(
            f"{input[0]} holds one document, and topics are learned from many; give more, or cut a"
            " long one into parts."
        )
    if learning.batch_size is not None and kind is not Kind.lda:
        raise ValueError(
            f"--batch-size is for plain LDA, and this is {NAMES[kind]}; leave it out, or pass"
            " --model lda."
        )
    if background and kind not in (Kind.labeled, Kind.combined):
        raise ValueError(
            "--background is for labeled LDA; name the column of labels with --labels."
        )
    if begin is not None and n_components not in (None, begin.components_.shape[0]):
        raise ValueError(
            f"--init {init} has {begin.components_.shape[0]} topics, so --n-components"
            f" {n_components} does not fit; leave it out."
        )
    common = {
        **learning.parameters(),
        "init": begin if begin is not None else "hard",
        "seeds": seeds,
    }
    if n_components is not None and kind is Kind.labeled:
        note("The labels are the topics; --n-components is not used.")
    estimator = make_estimator(
        kind,
        n_components or (begin.components_.shape[0] if begin is not None else USUAL_TOPICS),
        background,
        learning.batch_size,
        common,
        preset=None if learning.preset is None else learning.preset.value,
        corpus=corpus,
    )
    note(f"{corpus}\nFitting {NAMES[kind]}.")
    announce_compilation()
    resumed = checkpoint if checkpoint is not None and checkpoint.exists() else None
    with connected(learning.cluster) as cluster, Interrupt(resumed) as interrupt:
        estimator.set_params(callbacks=[interrupt], verbose=int(sys.stderr.isatty())).fit(
            corpus, **saving.options(), **cluster
        )
    estimator.set_params(callbacks=None, verbose=0)
    _save(estimator, output, checkpoint)
    _report(estimator, n_docs, output, interrupt.asked, as_json)
    if interrupt.asked:
        note(
            f"Stopped by Ctrl-C after sweep {estimator.n_iter_}, which {output} holds. To begin"
            " again from its topics:"
        )
        again = command_to_resume(input, columns, guide, learning.preset, kind, output, estimator)
        note(f"  {again}")
        if checkpoint is not None and checkpoint.exists():
            note(f"Or run the same command again, with --force: it resumes from {checkpoint}.")
        raise typer.Exit(1)


def _check_outputs(output: Path, checkpoint: Path | None, inputs: list[Path], force: bool) -> None:
    """Before any work is done."""
    from topoi.storage.files import check_outputs

    check_outputs([output], inputs=inputs, overwrite=force)
    if checkpoint is not None:
        check_outputs([output, checkpoint], inputs=inputs, overwrite=True)


def _save(estimator: FittedModel, output: Path, checkpoint: Path | None) -> None:
    """Save the model. If that fails, say where its work is still to be found."""
    try:
        estimator.save(output)
    except OSError:
        if checkpoint is not None and checkpoint.exists():
            note(f"The run is kept in {checkpoint}: run the same command with another --output.")
            raise
        with suppress(OSError):
            rescue = Path(tempfile.mkdtemp(prefix="topoi-")) / output.name
            estimator.save(rescue)
            note(f"The model was saved to {rescue} instead.")
        raise


def _report(
    estimator: FittedModel, n_docs: int, output: Path, stopped: bool, as_json: bool
) -> None:
    perplexity = next(
        (r["perplexity"] for r in reversed(estimator.history_) if r["perplexity"] is not None), None
    )
    if as_json:
        show_json(
            {
                "model": type(estimator).__name__,
                "file": str(output),
                "documents": n_docs,
                "words": estimator.n_features_in_,
                "sweeps": estimator.n_iter_,
                "converged": bool(estimator.converged_),
                "stopped": stopped,
                "training_perplexity": perplexity,
                "topics": topic_rows(estimator, 10),
            }
        )
        return
    show(topics_table(estimator, 10, n_topics=MOST_TOPICS))
    if estimator.components_.shape[0] > MOST_TOPICS:
        show(f"The {MOST_TOPICS} largest are shown; all: topoi topics {output}")
    measured = "" if perplexity is None else f", training perplexity {perplexity:.0f}"
    show(
        f"{estimator.n_iter_} sweep{'s' if estimator.n_iter_ > 1 else ''} in"
        f" {estimator.history_[-1]['seconds']:.1f} s{measured}. Saved: {output}"
    )
