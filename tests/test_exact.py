"""Oracles a reader can check: a corpus of two documents and three words, with numbers worked out by
hand or by full enumeration.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import factorial, prod
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support import begin, start_messages

from topoi import LDA, Authors, evaluate
from topoi.graph.factors import canonical_factor
from topoi.graph.plan import Plan
from topoi.infer.engine import refresh_fields
from topoi.infer.priors import FieldWeightLearner

# Words a, b, c. Document 0 reads "a a b", document 1 "b c c".
COUNTS = sparse.csr_array(np.array([[2.0, 1, 0], [0, 1, 2]]))
TOKENS = [(0, 0), (0, 0), (0, 1), (1, 1), (1, 2), (1, 2)]  # (document, word)


def posterior() -> dict[tuple[int, ...], Fraction]:
    """p(z | w) of all 64 assignments of two topics, alpha = beta = 1: every gamma function is a
    factorial.
    """

    def joint(z: tuple[int, ...]) -> Fraction:
        in_doc = Counter((d, k) for (d, _), k in zip(TOKENS, z, strict=True))
        in_topic = Counter((w, k) for (_, w), k in zip(TOKENS, z, strict=True))
        docs = prod(
            Fraction(factorial(in_doc[d, 0]) * factorial(in_doc[d, 1]), factorial(3 + 1))
            for d in (0, 1)
        )
        words = prod(
            Fraction(
                2 * prod(factorial(in_topic[w, k]) for w in (0, 1, 2)), factorial(z.count(k) + 2)
            )
            for k in (0, 1)
        )
        return docs * words

    table = {z: joint(z) for z in product((0, 1), repeat=6)}
    evidence = sum(table.values())
    assert evidence == Fraction(131, 181_440)
    return {z: p / evidence for z, p in table.items()}


def test_gibbs_draws_from_the_enumerated_posterior():
    """Frequencies over 20,000 sweeps.

    The standard error of a probability near 1/2 is 0.004 for independent draws; 0.02 is allowed.
    """
    run = begin(COUNTS, 2, "gibbs", alpha=1.0, beta=1.0, blocks=1, seed=1)
    token_of_edge = run.state.graph.arrays.edge_id
    drawn: Counter[tuple[int, ...]] = Counter()
    z = np.empty(6, int)
    for sweep in range(20_100):
        run.sweep()
        z[token_of_edge] = run.state.messages.z
        if sweep >= 100:
            drawn[tuple(z.tolist())] += 1
    exact = posterior()
    assert exact[0, 0, 0, 1, 1, 1] == Fraction(63, 655), (
        "the best of all: each document its own topic"
    )

    def together(i: int, j: int) -> float:
        return sum(n for z, n in drawn.items() if z[i] == z[j]) / 20_000

    np.testing.assert_allclose(together(0, 1), 503 / 655, rtol=0, atol=0.02)  # both a
    # A and b of document 0.
    np.testing.assert_allclose(together(0, 2), 412 / 655, rtol=0, atol=0.02)
    # The two b, in different documents.
    np.testing.assert_allclose(together(2, 3), 1103 / 1965, rtol=0, atol=0.02)
    np.testing.assert_allclose(together(0, 4), 145 / 393, rtol=0, atol=0.02)  # a and c
    distance = sum(abs(drawn[z] / 20_000 - float(p)) for z, p in exact.items()) / 2
    assert distance < 0.03, "total variation distance over all 64 assignments"


# ------------------------------------------------------------------------------ one message by hand

# Messages of (document 0, a), (0, b), (1, b), (1, c). With alpha = beta = 1 they make the tables
# Th_0 = 2 (1, 0) + (1/2, 1/2) = (5/2, 1/2)   Th_1 = (0, 1) + 2 (1/4, 3/4) = (1/2, 5/2)
# Ph_a = (2, 0)   Ph_b = (1/2, 3/2)   Ph_c = (1/2, 3/2)   N = (3, 3)
MESSAGES = np.array([[1, 0], [0.5, 0.5], [0, 1], [0.25, 0.75]])


def by_hand(rule: str, schedule: str, **options: Any):
    run = begin(COUNTS, 2, rule, schedule, alpha=1.0, beta=1.0, blocks=1, **options)
    assert run.state.graph.arrays.visit_doc.tolist() == [
        0,
        1,
    ], "document 0 comes first with this seed"
    start_messages(run, MESSAGES)
    return run


def test_tables_by_hand():
    tables = by_hand("bp", "synchronous").state.tables
    np.testing.assert_array_equal(tables.theta[:, :2], [[2.5, 0.5], [0.5, 2.5]])
    np.testing.assert_array_equal(tables.phi[:, :2], [[2, 0], [0.5, 1.5], [0.5, 1.5]])
    np.testing.assert_array_equal(tables.totals[:2], [3, 3])


@pytest.mark.parametrize(
    ("rule", "options", "share"),
    [
        # The message of (0, a), x = 2. Topic 0, then topic 1:
        # whole edge out, y = (2, 0): (2-2+1)/(3-2+3) (5/2-2+1) = 3/8; (0+1)/(3+3) (1/2+1) = 1/4
        ("bp", {}, 0.6),
        # one token out, y = (1, 0): (2-1+1)/(3-1+3) (5/2-1+1) = 1; 1/4
        ("cvb0", {"messages": "edge"}, 0.8),
        # nothing out: (2+1)/(3+3) (5/2+1) = 7/4; 1/4
        ("sibp", {}, 0.875),
        # digamma on the owner's side: 1/2 exp(psi(7/2)) = 1.506832; 1/6 exp(psi(3/2)) = 0.172861
        ("vb", {"inner": 1}, 0.897088),
        # and on the word's side: psi(3) - psi(1) = 3/2, psi(7/2) - psi(3/2) = 2/3 + 2/5, so the
        # odds are exp(77/30)
        ("vb", {"inner": 1, "textbook": True}, 1 / (1 + np.exp(-77 / 30))),
    ],
)
def test_a_synchronous_message_by_hand(rule, options, share):
    run = by_hand(rule, "synchronous", **options)
    run.sweep()
    np.testing.assert_allclose(run.messages[0, :2], [share, 1 - share], rtol=0, atol=2e-6)


def test_all_synchronous_messages_by_hand():
    """s-BP: (0, b) leaves y = (1/2, 1/2): 1/(11/2) 3 = 6/11 and 2/(11/2) 1 = 4/11.

    (1, b): y = (0, 1): (3/2)/6 (3/2) = 3/8 and (3/2)/5 (5/2) = 3/4. (1, c): y = (1/2, 3/2):
    1/(11/2) 1 = 2/11 and 1/(9/2) 2 = 4/9.
    """
    run = by_hand("bp", "synchronous")
    run.sweep()
    np.testing.assert_allclose(
        run.messages[:, 0], [3 / 5, 3 / 5, 1 / 3, (2 / 11) / (2 / 11 + 4 / 9)], rtol=1e-6
    )


def test_an_asynchronous_message_by_hand():
    """a-BP: (0, a) becomes (0.6, 0.4) as above, so document 0 now holds (1.7, 1.3).

    Then (0, b): y = (1/2, 1/2), 1/(11/2) (1.7 - 0.5 + 1) = 0.4 and 2/(11/2) (1.3 - 0.5 + 1) =
    36/55: the message is (11, 18) / 29.
    """
    run = by_hand("bp", "asynchronous")
    run.sweep()
    np.testing.assert_allclose(run.messages[:2, :2], [[0.6, 0.4], [11 / 29, 18 / 29]], rtol=1e-6)
    theta = 2 * np.array([0.6, 0.4]) + np.array([11, 18]) / 29
    np.testing.assert_allclose(run.state.tables.theta[0, :2], theta, rtol=1e-6)


def test_a_prediction_by_hand():
    """Frozen words: own mass leaves the owner only.

    Topics (1/2, 1/4, 1/4) and (1/8, 1/8, 3/4), alpha = 1, document "a a". The only edge holds all
    of the document, so its prior alpha counts alone: 1/2 against 1/8. theta = (2 * 0.8 + 1, 2 * 0.2
    + 1) / 4.
    """
    counts = sparse.csr_array([[2.0, 0, 0]])
    run = begin(counts, 2, alpha=1.0, beta=1e-30, base=TOPICS.T, frozen=True)
    run.sweep(3)
    np.testing.assert_allclose(run.messages[0, :2], [0.8, 0.2], rtol=1e-6)
    np.testing.assert_allclose(run.state.doc_topic(), [[0.65, 0.35]], rtol=1e-6)


def test_transform_by_hand():
    """The same through the estimator."""
    lda = LDA(2, doc_topic_prior=1.0, max_iter=1).fit(COUNTS)
    lda.components_ = TOPICS
    np.testing.assert_allclose(
        lda.transform(np.array([[2, 0, 0], [0, 0, 0]])), [[0.65, 0.35], [0.5, 0.5]], rtol=1e-6
    )


# ------------------------------------------------------------------------------------ left to right

TOPICS = np.array([[1 / 2, 1 / 4, 1 / 4], [1 / 8, 1 / 8, 3 / 4]])


def likelihood(words: list[int], alpha: tuple[int, int]) -> float:
    """p(words) under TOPICS, summed over all assignments: z by Polya's urn, then each word."""
    total = 0.0
    for z in product((0, 1), repeat=len(words)):
        urn = prod(Fraction(alpha[k] + z[:n].count(k), sum(alpha) + n) for n, k in enumerate(z))
        total += float(urn) * float(np.prod([TOPICS[k, w] for w, k in zip(words, z, strict=True)]))
    return total


@pytest.mark.parametrize(
    ("words", "alpha", "exact"),
    [
        ([0, 0, 1], (1, 1), 47 / 2048),
        ([0, 0, 1], (1, 3), 47 / 5120),
        ([0, 1, 2, 2], (1, 1), 191 / 15_360),
        ([2, 2, 2, 0], (2, 1), 7 / 256),
    ],
)
def test_left_to_right_is_the_enumerated_likelihood(words, alpha, exact):
    """200,000 particles; the likelihood within 1 %.

    One particle would be off by tens of per cent.
    """
    np.testing.assert_allclose(likelihood(words, alpha), exact, rtol=1e-9)
    counts = np.bincount(words, minlength=3)[None, :]
    found = evaluate.left_to_right(
        TOPICS, counts, n_particles=200_000, doc_topic_prior=np.array(alpha, float)
    )
    np.testing.assert_allclose(np.exp(found), [exact], rtol=0.01)


def test_left_to_right_needs_no_luck_for_one_word():
    """A one-token document leaves nothing to chance: 1/4 1/2 + 3/4 1/8 = 7/32.

    An empty one has likelihood 1.
    """
    found = evaluate.left_to_right(
        TOPICS, np.array([[1, 0, 0], [0, 0, 0]]), n_particles=1, doc_topic_prior=[1.0, 3.0]
    )
    np.testing.assert_allclose(found, [np.log(7 / 32), 0], rtol=1e-9, atol=1e-12)


# -------------------------------------------------------------------------------- weights of fields


@dataclass
class HearsTheNext:
    """Each document owns itself and receives a message from the next one; the last from none."""

    weight: float
    learn: bool = True

    def add_to(self, plan: Plan) -> None:
        plan.owners = sparse.eye_array(plan.counts.shape[0], format="csr")
        plan.fields.append(self)

    def message(self, doc_topic: np.ndarray, *_: object) -> np.ndarray:
        return np.vstack([doc_topic[1:], np.zeros(doc_topic.shape[1])])


def two_documents_of_one_word_each(*fields: HearsTheNext) -> Any:
    """Document 0 reads "a" of topic 0, document 1 "b" of topic 1, alpha = beta = 1: proportions
    (2/3, 1/3) and (1/3, 2/3) of documents and topics.
    """
    run = begin(sparse.csr_array(np.eye(2)), 2, factors=fields, alpha=1.0, beta=1.0)
    start_messages(run, np.eye(2))
    refresh_fields(run.state)
    return run.state


def em_step(weight: float) -> float:
    """Held out are three a and one b of document 0.

    Its own proportions give them 5/9 and 4/9, those it receives from document 1 give 4/9 and 5/9.
    """
    a = weight * 4 / ((1 - weight) * 5 + weight * 4)
    b = weight * 5 / ((1 - weight) * 4 + weight * 5)
    return (3 * a + b) / 4


@pytest.mark.parametrize("steps", [1, 2])
def test_a_field_weighs_what_it_explains_of_held_out_tokens(steps):
    """By tokens, and only by those of documents that receive something: document 1, with five
    tokens, does not.
    """
    state = two_documents_of_one_word_each(HearsTheNext(0.3))
    held = sparse.csr_array(np.array([[3.0, 1], [5, 0]]))
    FieldWeightLearner(held, steps=steps).update(state)
    expected = em_step(0.3) if steps == 1 else em_step(em_step(0.3))
    np.testing.assert_allclose(state.learned[0].weight, expected, rtol=1e-6)


def test_a_learned_weight_leaves_room_for_the_others():
    """All fields together have at most 0.95, and a learned one at least 0.001; a weight that is
    given stays. Held out is b, which document 1 explains.
    """
    held = sparse.csr_array(np.array([[0.0, 9], [0, 0]]))
    for given, most in ((0.9, 0.05), (0.9495, 0.001)):
        fields = HearsTheNext(0.04), HearsTheNext(given, learn=False)
        state = two_documents_of_one_word_each(*fields)
        FieldWeightLearner(held).update(state)
        np.testing.assert_allclose(state.learned[0].weight, most, rtol=1e-9)
        assert state.learned[1].weight == given
        assert (fields[0].weight, fields[1].weight) == (0.04, given)  # descriptions


# ------------------------------------------------------------------------ proportions of co-authors


def test_learned_shares_of_authors_begin_with_one_token_each():
    """One topic, so that only authors are asked: mu(o) ~ what o has of the other words of the
    document, plus 1.
    """
    x = np.array([3.0, 2, 1, 4])
    run = begin(
        sparse.csr_array(x[None]),
        1,
        schedule="synchronous",
        factors=(canonical_factor(Authors([["ann", "bob"]], prior="learned"), 1),),
    )
    edges = run.state.graph.arrays.edge_id
    before = np.empty((4, 2))
    before[edges] = run.state.messages.mu.reshape(4, 2, -1)[:, :, 0]
    held_by_others = x @ before - x[:, None] * before
    expected = (held_by_others + 1) / (x.sum() - x + 2)[:, None]
    run.sweep()
    after = np.empty((4, 2))
    after[edges] = run.state.messages.mu.reshape(4, 2, -1)[:, :, 0]
    np.testing.assert_allclose(after, expected, rtol=1e-5)
    np.testing.assert_allclose(
        run.state.owner_proportions().toarray(), [(x @ expected + 1) / (x.sum() + 2)], rtol=1e-5
    )


# ------------------------------------------------------------------------------------- mini-batches


def test_words_of_batches_are_counted_by_hand():
    """One topic holds all words, as often as the documents so far have them, scaled to the 12 that
    are to come. Once more than 12 have come, older ones fade.
    """
    batches = [np.array([[2, 0], [0, 4]]), np.array([[1, 3], [1, 0], [1, 0]]), np.array([[0, 5]])]
    batches += [np.array([[1, 0]] * 8), np.array([[0, 1]] * 2)]
    so_far = [12 / 2 * np.array([2, 4]), 12 / 5 * np.array([5, 7]), 12 / 6 * np.array([5, 12])]
    so_far.append(12 / 14 * np.array([13, 12]))
    so_far.append(12 / 14 * (so_far[3] + [0, 2]))
    model = LDA(1, total_samples=12, doc_topic_prior=0.1, topic_word_prior=0.5)
    for batch, counts in zip(batches, so_far, strict=True):
        np.testing.assert_allclose(model.partial_fit(batch).components_, [counts + 0.5], rtol=1e-6)
