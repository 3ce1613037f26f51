"""Intrusion tasks: which word does not belong to a topic, which topic not to a document?

For people, and answered automatically from the words that occur together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.corpus.checks import check_counts
from topoi.evaluate.coherence import association
from topoi.evaluate.inputs import proportions_of, topics_of
from topoi.storage.files import atomic_write

if TYPE_CHECKING:
    import pandas as pd

    from topoi.io.given import CorpusLike
    from topoi.protocols import FittedModel

__all__ = ["Intrusion", "intrusion"]

MAIN, MOST_MAIN = 0.1, 3  # a document is about topics with so much of it, and at most so many
EXCERPT, EXCERPT_WORDS = 600, 40  # characters of a text that are shown, or words without a text


@dataclass(frozen=True, eq=False)
class Intrusion:
    """Result of `intrusion`: questions with their answers.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per question: task ("word" or "topic"), about (the number of the topic, or the
        document), text (of the document), choices (a list), intruder (the right choice, from 1 on)
        and guess (the automatic answer).
    """

    table: pd.DataFrame

    @property
    def scores(self) -> pd.DataFrame:
        """The automatic answers: questions, found (proportion) and by_chance for each task."""
        return self._scores(self.table["guess"])

    def write(self, path: str | Path) -> list[Path]:
        """Write a sheet for people and, beside it, the answers.

        Parameters
        ----------
        path : str or Path
            The sheet, such as sheet.csv: a row per question with an empty column "answer". Answers
            go to sheet.answers.csv. Files are replaced if they exist.

        Returns
        -------
        list of Path
            The two files.
        """
        sheet, answers = sheet_paths(path)
        for file, table in ((sheet, self._sheet()), (answers, self._answers())):
            with atomic_write(file) as out:
                out.write(table.to_csv().encode())
        return [sheet, answers]

    def score(self, sheet: str | Path | pd.DataFrame) -> pd.DataFrame:
        """How often people found the intruder.

        Parameters
        ----------
        sheet : str, Path or pandas.DataFrame
            A sheet that `write` wrote, with the column "answer" filled in: the number of a choice,
            or the choice itself. Questions without an answer are left out.

        Returns
        -------
        pandas.DataFrame
            For each task: questions that were answered, found (proportion) and by_chance.
        """
        import pandas as pd

        filled = (
            sheet.fillna("").astype(str)
            if isinstance(sheet, pd.DataFrame)
            else pd.read_csv(sheet, dtype=str, keep_default_na=False).set_index("question")
        )
        filled.index = filled.index.astype(int)
        own = self._sheet()
        if (
            set(own) - set(filled)
            or not filled.index.isin(own.index).all()
            or (filled[own.columns] != own.loc[filled.index]).drop(columns="answer").any(axis=None)
        ):
            raise ValueError(
                "The sheet does not ask these questions; make them from the same model, documents"
                " and seed, and change nothing but the column 'answer'."
            )
        answers = {
            number: _answer(answer, self.table["choices"][number])
            for number, answer in filled["answer"].items()
        }
        given = pd.Series(answers, dtype=float).reindex(self.table.index).dropna()
        if given.empty:
            raise ValueError("The sheet has no answers; fill in the column 'answer'.")
        return self._scores(given)

    def _scores(self, answers: pd.Series) -> pd.DataFrame:
        asked = self.table.loc[answers.index].assign(
            found=lambda table: answers == table["intruder"],
            by_chance=lambda table: 1 / table["choices"].map(len),
        )
        tasks = asked.groupby("task", sort=False)
        return tasks[["found", "by_chance"]].mean().assign(questions=tasks.size())

    def _sheet(self) -> pd.DataFrame:
        """What people see: nothing in it tells the intruder."""
        most = int(self.table["choices"].map(len).max())
        choices = {
            f"choice {i + 1}": [row[i] if i < len(row) else "" for row in self.table["choices"]]
            for i in range(most)
        }
        return self.table[["task", "text"]].assign(**choices, answer="")

    def _answers(self) -> pd.DataFrame:
        right = [
            choices[number - 1]
            for choices, number in zip(self.table["choices"], self.table["intruder"], strict=True)
        ]
        return self.table[["task", "about", "intruder"]].assign(choice=right)


def sheet_paths(path: str | Path) -> tuple[Path, Path]:
    """The files that `Intrusion.write` writes: the sheet, and its answers."""
    sheet = Path(path)
    return sheet, sheet.with_name(f"{sheet.stem}.answers{sheet.suffix or '.csv'}")


def intrusion(
    model: FittedModel,
    corpus: CorpusLike,
    *,
    n_words: int = 5,
    n_documents: int = 20,
    random_state: int = 0,
) -> Intrusion:
    """Make intrusion tasks (Chang et al. 2009), the test of topics that people can take.

    Word intrusion: the top words of a topic and one top word of another topic that this one hardly
    uses. People find the intruder if the others belong together. Topic intrusion: the main topics
    of a document and one that it hardly has. People find it if the proportions make sense.

    The automatic answer is the choice that goes worst with the others (words), or with the words
    of the document (topics), by NPMI in `corpus`. It is no substitute for people: it sees what
    coherence sees.

    Parameters
    ----------
    model : fitted model
        A model with `transform`, of two topics or more.
    corpus : Corpus or array-like of shape (n_documents, n_words)
        Documents to show, and to look for words that occur together: the more, the better. Texts
        are shown if the corpus has them, otherwise the words that stand out.
    n_words : int, default=5
        Number of top words of a topic that are shown.
    n_documents : int, default=20
        Number of documents, drawn at random, with a question each.
    random_state : int, default=0
        Seed of documents, intruders and the order of choices.

    Returns
    -------
    Intrusion
        `table` has a row per question, `scores` the automatic score, `write` makes a sheet for
        people, and `score` reads what they answered.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.evaluate import intrusion
    >>> corpus, _ = datasets.make_blocks(n_topics=3)
    >>> tasks = intrusion(LDA(3, max_iter=20).fit(corpus), corpus, n_documents=10)
    >>> tasks.scores["found"].to_dict()
    {'word': 1.0, 'topic': 1.0}
    """
    import pandas as pd

    if not isinstance(corpus, Corpus):
        corpus = Corpus(check_counts(corpus), getattr(model, "vocabulary_", None))
    corpus = corpus.like(getattr(model, "vocabulary_", None))
    counts = check_counts(corpus.counts)
    if not counts.nnz:
        raise ValueError("The documents have no word of the model; give some that have.")
    topics = topics_of(model, counts.shape[1])
    if len(topics) < 2:
        raise ValueError("A model of one topic has no intruders; fit at least two topics.")
    rng = np.random.default_rng(random_state)
    present = sparse.csc_array(counts.astype(bool).astype(np.float64))
    asked = _Questions(corpus, topics, present, n_words, rng)
    rows = [*asked.words(), *asked.topics(proportions_of(model, corpus), n_documents)]
    table = pd.DataFrame(rows)
    return Intrusion(table.set_index(pd.RangeIndex(1, len(table) + 1, name="question")))


@dataclass(frozen=True)
class _Questions:
    """What questions are made from. topic_word: (K, W); present: (D, W), where words occur."""

    corpus: Corpus
    topic_word: np.ndarray
    present: sparse.csc_array
    n_words: int
    rng: np.random.Generator

    def words(self) -> Iterator[dict[str, object]]:
        """A question for each topic to which others have an intruder: one of their top words, from
        the lower half of its ranking if there is one there, else the lowest.
        """
        names, order = np.array(self.corpus.words), np.argsort(-self.topic_word, kind="stable")
        tops = order[:, : self.n_words]
        for topic, ranked in enumerate(order):
            place = np.argsort(ranked)
            others = np.setdiff1d(np.delete(tops, topic, axis=0), tops[topic])
            if not len(others):
                continue
            strangers = others[place[others] >= len(ranked) // 2]
            if not len(strangers):
                strangers = others[[place[others].argmax()]]
            choices = self._shuffled(tops[topic], self.rng.choice(strangers))
            together = association(self.present, choices, choices)
            np.fill_diagonal(together, 0)
            yield {
                "task": "word",
                "about": topic,
                "text": "",
                "choices": names[choices].tolist(),
                "intruder": int((~np.isin(choices, tops[topic])).argmax()) + 1,
                "guess": int(together.sum(axis=1).argmin()) + 1,
            }

    def topics(self, proportions: np.ndarray, n_documents: int) -> Iterator[dict[str, object]]:
        """A question for each of some documents. proportions: (D, K)."""
        counts, names = self.corpus.counts, np.array(self.corpus.words)
        tops = np.argsort(-self.topic_word, kind="stable")[:, : self.n_words]
        filled = np.flatnonzero(np.diff(counts.indptr))
        chosen = self.rng.permutation(filled)[:n_documents]
        for d in chosen:
            ranked = np.argsort(-proportions[d], kind="stable")
            n_main = int(np.clip((proportions[d] >= MAIN).sum(), 1, MOST_MAIN))
            rare = ranked[max(n_main, len(ranked) // 2) :]
            if not len(rare):
                continue
            choices = self._shuffled(ranked[:n_main], self.rng.choice(rare))
            words = counts.indices[counts.indptr[d] : counts.indptr[d + 1]]
            together = [association(self.present, tops[k], words).mean() for k in choices]
            yield {
                "task": "topic",
                "about": self._name(d),
                "text": self._text(d),
                "choices": [" ".join(names[tops[k]]) for k in choices],
                "intruder": int((~np.isin(choices, ranked[:n_main])).argmax()) + 1,
                "guess": int(np.argmin(together)) + 1,
            }

    def _shuffled(self, belonging: np.ndarray, intruder: int) -> np.ndarray:
        return self.rng.permutation(np.append(belonging, intruder))

    def _name(self, d: int) -> str:
        return str(d if self.corpus.doc_names is None else self.corpus.doc_names[d])

    def _text(self, d: int) -> str:
        """The start of a document, or the words that it has more often than others do."""
        if self.corpus.texts is not None:
            text = " ".join(self.corpus.texts[d].split())
            return text if len(text) <= EXCERPT else f"{text[:EXCERPT].rsplit(' ', 1)[0]} …"
        row = self.corpus.counts[[d]]
        rarity = -np.log(self.present[:, row.indices].mean(axis=0))
        best = np.argsort(-row.data * rarity, kind="stable")[:EXCERPT_WORDS]
        names = np.array(self.corpus.words)
        return " ".join(names[row.indices[best]])


def _answer(answer: str, choices: list[str]) -> float:
    """The number of a choice that somebody filled in; NaN for none."""
    text = answer.strip()
    if not text:
        return float("nan")
    if text in choices:
        return choices.index(text) + 1
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if number not in range(1, len(choices) + 1):
        raise ValueError(
            f"An answer is {text!r}; expected the number of a choice, from 1 to {len(choices)}, or"
            " the choice itself."
        )
    return number
