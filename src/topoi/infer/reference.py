"""The updates of `kernels/` in plain NumPy and double precision: slow, obvious, and the oracle of
the tests.

A message is an (owners, topics) array. Read `message` for the equation and `sweep` for the order;
the rest is bookkeeping.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.special import psi

from topoi.graph.wiring import Graph
from topoi.infer.arrays import ActiveSet, Fields, FreshParams, Messages, SweepParams, Tables
from topoi.infer.kernels import uniforms

__all__ = [
    "active",
    "admit",
    "count",
    "doubled",
    "edges_of",
    "expected_digamma_gain",
    "gibbs",
    "infer",
    "infer_joint",
    "log_likelihood",
    "message",
    "recall",
    "stateless",
    "sweep",
]


def doubled(tables: Tables) -> Tables:
    """A double-precision copy."""
    return Tables(*(np.array(table, dtype=np.float64) for table in tables))


def message(
    word,
    total,
    held,
    alpha,
    word_prior,
    owner_mass,
    own,
    params: SweepParams,
    field_term,
    field_weight,
) -> np.ndarray:
    """What an edge hears: (n, L), sums to 1.

    mu(o, k) ~ (phi_w - own + beta) / (N - own + W beta) * [(1 - xi) (theta_o - own_o + alpha) /
    (T_o - own_o + A) + xi field], times the owner's share of the document where that is learned.
    own: (n, L) what the edge removes of itself, from words and from owners.
    """
    own_word, own_side = own
    gone = own_word.sum(axis=0)
    word_term = (np.maximum(word - gone, 0) + word_prior) / np.maximum(
        total - gone, params.beta_sum
    )
    owners = np.maximum(held - own_side, 0) + alpha
    if not params.plain_side:
        owners = (
            owners
            / np.maximum((held + alpha).sum(axis=1) - own_side.sum(axis=1), alpha.sum())[:, None]
        )
    likely = np.ones(len(held))
    if params.owner_prior > 0:
        likely = np.maximum(owner_mass - own_side.sum(axis=1), 0) + params.owner_prior
    new = word_term * likely[:, None] * ((1 - field_weight) * owners + field_term)
    return new / new.sum()


def _visits(graph: Graph, messages: Messages, stage: int) -> Iterator[tuple[int, int]]:
    """(document block, visit) of one stage, in the order in which a single worker takes them."""
    for p in range(graph.n_doc_blocks):
        cell = p * graph.n_word_blocks + (p + stage) % graph.n_word_blocks
        for i in range(graph.arrays.cell_visit[cell], graph.arrays.cell_visit[cell + 1]):
            yield p, messages.order[i]


def _place(graph: Graph, doc: int) -> tuple[np.ndarray, np.ndarray, slice]:
    """Owners (rows of theta) and topics of a document, and its (document, owner) pairs."""
    w = graph.arrays
    pairs = slice(w.slot_ptr[doc], w.slot_ptr[doc + 1])
    listed = w.topics[w.topic_ptr[doc] : w.topic_ptr[doc + 1]]
    return w.slots[pairs], listed if len(listed) else np.arange(graph.width), pairs


def _settle(
    graph: Graph, tables: Tables, before: np.ndarray, change: np.ndarray | float = 0.0
) -> None:
    """End of a stage: add up the cells' changes of the totals, and let the rows of a shared owner
    agree.
    """
    tables.totals[:] += np.sum(change, axis=0)
    for o in range(len(graph.shared_ptr) - 1):
        rows = graph.shared_slots[graph.shared_ptr[o] : graph.shared_ptr[o + 1]]
        tables.theta[rows] = np.maximum(
            before[rows[0]] + (tables.theta[rows] - before[rows]).sum(axis=0), 0
        )


def sweep(
    graph: Graph,
    read: Tables,
    write: Tables,
    mu: np.ndarray,
    messages: Messages,
    fields: Fields,
    params: SweepParams,
) -> np.ndarray:
    """One sweep of BP, siBP, CVB0 or VB.

    In place, `write` is `read`; otherwise it starts blank. `mu` changes. Returns (V,) residuals.
    """
    w = graph.arrays
    residual = np.zeros(len(w.visit_doc))
    start = write.theta.copy()
    for stage in range(graph.n_word_blocks):
        before, change = write.theta.copy(), np.zeros((graph.n_doc_blocks, graph.width))
        for p, v in _visits(graph, messages, stage):
            doc = w.visit_doc[v]
            slots, topics, pairs = _place(graph, doc)
            grid = np.ix_(slots, topics)
            total = (read.totals + change[p])[topics] + params.beta_sum
            field_term = (
                fields.message[doc, topics] if fields.weight[doc] > 0 else np.zeros(len(topics))
            )
            at_start = write.theta[grid].copy()
            for i, e in enumerate(range(w.visit_edge[v], w.visit_edge[v + 1])):
                word, x = w.edge_word[e], float(w.edge_x[e])
                size = len(slots) * len(topics)
                m = mu[w.visit_message[v] + i * size : w.visit_message[v] + (i + 1) * size].reshape(
                    len(slots), -1
                )
                own = min(x, params.own_cap) * m
                new = message(
                    read.phi[word, topics], total, read.theta[grid], params.alpha[topics],
                    params.word_prior[topics], read.owner_mass[pairs],
                    (own * (not params.frozen_words), own), params, field_term, fields.weight[doc],
                )  # fmt: skip
                if params.relaxation != 1:
                    new = np.maximum(m + params.relaxation * (new - m), 0)
                    new /= new.sum()
                residual[v] += x * np.abs(new - m).sum()
                gain = x * (new - m if params.in_place else new)
                m[:] = new
                write.theta[grid] += gain
                write.owner_mass[pairs] += gain.sum(axis=1)
                if not params.frozen_words:
                    write.phi[word, topics] += gain.sum(axis=0)
            if params.in_place and not params.frozen_words:
                change[p, topics] += (write.theta[grid] - at_start).sum(axis=0)
        if params.in_place:
            _settle(graph, write, before, change)
    if not params.in_place:
        _settle(graph, write, start)
        write.totals[:] = write.phi.sum(axis=0)
    return residual


def infer(
    graph: Graph,
    tables: Tables,
    mu: np.ndarray,
    fields: Fields,
    params: SweepParams,
    afresh: FreshParams,
    docs: Iterable[int],
) -> np.ndarray:
    """Infer `docs`, which own themselves, afresh: their messages in `mu`, their rows of theta.

    Words stand still. Returns (V,) residuals.
    """
    residual = np.zeros(len(graph.arrays.visit_doc))
    for doc in docs:
        (slot,), topics, _ = _place(graph, doc)
        words, x, places = edges_of(graph, doc)
        xi = fields.weight[doc]
        field_term = fields.message[doc, topics] if xi > 0 else np.zeros(len(topics))
        alpha, total = (
            params.alpha[topics].astype(np.float64),
            tables.totals[topics] + params.beta_sum,
        )
        m, side = np.zeros((len(words), len(topics))), np.zeros(len(topics))
        for t in range(afresh.passes + 1):
            by_digamma, discount = afresh.digamma and t > 0, afresh.discount * (t > 0)
            held = side.sum() + alpha.sum()
            if by_digamma:
                owner = np.exp(psi(side + alpha) - psi(held))
            for i, word in enumerate(words):
                own_side = min(x[i], params.own_cap) * m[i]
                own_word = own_side * (not params.frozen_words)
                word_term = (
                    np.maximum(tables.phi[word, topics] - own_word, 0) + params.word_prior[topics]
                )
                word_term = word_term / np.maximum(total - own_word, params.beta_sum)
                if not by_digamma:
                    owner = np.maximum(side - own_side - discount, 0) + alpha
                    owner = (
                        owner / max(held - min(x[i], params.own_cap), alpha.sum())
                        if xi > 0
                        else owner
                    )
                new = word_term * ((1 - xi) * owner + field_term)
                new /= new.sum()
                if t > 0 and not by_digamma:
                    side = side + x[i] * (new - m[i])
                m[i] = new
            if t == 0 or by_digamma:
                side = x @ m
        _write_messages(graph, doc, mu, m)
        residual[places[:1]] = np.abs(side - tables.theta[slot, topics]).sum()
        tables.theta[slot, topics] = side
    return residual


def infer_joint(
    graph: Graph,
    tables: Tables,
    mu: np.ndarray,
    fields: Fields,
    params: SweepParams,
    afresh: FreshParams,
    docs: Iterable[int],
) -> np.ndarray:
    """`infer` for documents of several or shared owners, which stand still like words.

    Returns (V,) residuals.
    """
    residual = np.zeros(len(graph.arrays.visit_doc))
    for doc in docs:
        slots, topics, _ = _place(graph, doc)
        words, x, places = edges_of(graph, doc)
        field_term = (
            fields.message[doc, topics] if fields.weight[doc] > 0 else np.zeros(len(topics))
        )
        total, held = tables.totals[topics] + params.beta_sum, tables.theta[np.ix_(slots, topics)]
        m, owner_mass = np.zeros((len(words), *held.shape)), np.zeros(len(slots))
        for t in range(afresh.passes + 1):
            before = m.copy()
            for i, word in enumerate(words):
                own = min(x[i], params.own_cap) * m[i]
                new = message(
                    tables.phi[word, topics], total, held, params.alpha[topics],
                    params.word_prior[topics], owner_mass,
                    (own * (not params.frozen_words), own), params, field_term, fields.weight[doc],
                )  # fmt: skip
                m[i] = new if t < 2 else (m[i] + new) / 2
            owner_mass = np.einsum("i,iok->o", x, m)
        _write_messages(graph, doc, mu, m)
        residual[places[:1]] = np.einsum("i,iok->", x, np.abs(m - before))
    return residual


def edges_of(graph: Graph, doc: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words and weights of a document's edges, word block by word block, and its visits."""
    w, (ptr, visits) = graph.arrays, graph.visits_of_docs
    of_doc = visits[ptr[doc] : ptr[doc + 1]]
    edges = [e for v in of_doc for e in range(w.visit_edge[v], w.visit_edge[v + 1])]
    return w.edge_word[edges], w.edge_x[edges].astype(np.float64), of_doc


def _write_messages(graph: Graph, doc: int, mu: np.ndarray, messages: np.ndarray) -> None:
    """Put the messages of a document's edges, in the order of `edges_of`, where the graph wants
    them.
    """
    w, (ptr, visits), done = graph.arrays, graph.visits_of_docs, 0
    for v in visits[ptr[doc] : ptr[doc + 1]]:
        n = w.visit_edge[v + 1] - w.visit_edge[v]
        part = messages[done : done + n].ravel()
        mu[w.visit_message[v] : w.visit_message[v] + len(part)] = part
        done += n


def _implied(theta, phi, totals, x, n_d, n_w, params: SweepParams, alpha) -> np.ndarray:
    """The message that tables imply for an edge whose share x / n of its document and of its word
    is put aside (TBP).
    """
    new = (
        (theta * (1 - x / n_d) + alpha)
        * (phi * (1 - x / n_w) + params.beta)
        / np.maximum(totals + params.beta_sum, params.beta_sum)
    )
    return new / new.sum()


def _solved(mu, theta, phi, totals, x, params: SweepParams, steps: int) -> np.ndarray:
    """The BP message that is itself in the tables (algorithms 4.3), from a first guess mu."""
    for step in range(steps):
        own = x * mu
        new = (np.maximum(theta - own, 0) + params.alpha) * (np.maximum(phi - own, 0) + params.beta)
        new = new / np.maximum(totals - own + params.beta_sum, params.beta_sum)
        mu = new / new.sum() if step == 0 else (mu + new / new.sum()) / 2
    return mu


def stateless(
    graph: Graph,
    read: Tables,
    write: Tables,
    messages: Messages,
    params: SweepParams,
    word_weight: np.ndarray,
    relaxation: float = 1.0,
    solve: int = 0,
) -> None:
    """One sweep of BP without stored messages.

    In place, `write` is `read`; otherwise it starts blank, and what is put aside is `_solved` for.
    """
    w = graph.arrays
    for stage in range(graph.n_word_blocks):
        change = np.zeros((graph.n_doc_blocks, graph.width))
        for p, v in _visits(graph, messages, stage):
            doc = w.visit_doc[v]
            slot, n_d = w.slots[w.slot_ptr[doc]], graph.doc_weight[doc]
            totals, at_start = read.totals + change[p], write.theta[slot].copy()
            for e in range(w.visit_edge[v], w.visit_edge[v + 1]):
                word, x = w.edge_word[e], float(w.edge_x[e])
                n_w = word_weight[word]
                aside = x if params.in_place else 0.0
                new = _implied(
                    read.theta[slot], read.phi[word], totals, aside, n_d, n_w, params, params.alpha
                )
                if not params.in_place:
                    new = _solved(new, read.theta[slot], read.phi[word], totals, x, params, solve)
                for table, row, n in ((write.theta, slot, n_d), (write.phi, word, n_w)):
                    move = min(relaxation * x, n) if params.in_place else x
                    table[row] = table[row] * (1 - move / n if params.in_place else 1) + move * new
            if params.in_place:
                change[p] += write.theta[slot] - at_start
        if params.in_place:
            write.totals[:] += change.sum(axis=0)
    write.totals[:] = write.phi.sum(axis=0)


def active(
    graph: Graph,
    tables: Tables,
    mu: np.ndarray,
    messages: Messages,
    active_set: ActiveSet,
    params: SweepParams,
) -> None:
    """One sweep of active BP, in place: chosen topics of chosen documents share what they hold of a
    message in new proportions.
    """
    w = graph.arrays
    for stage in range(graph.n_word_blocks):
        change = np.zeros((graph.n_doc_blocks, graph.width))
        for p, v in _visits(graph, messages, stage):
            doc = w.visit_doc[v]
            if not active_set.docs[doc]:
                continue
            slot, topics = w.slots[w.slot_ptr[doc]], active_set.topics[doc]
            totals, at_start = (
                (tables.totals + change[p])[topics] + params.beta_sum,
                tables.theta[slot].copy(),
            )
            for i, e in enumerate(range(w.visit_edge[v], w.visit_edge[v + 1])):
                word, x = w.edge_word[e], float(w.edge_x[e])
                m = mu[w.visit_message[v] + i * graph.width :][: graph.width]
                own = min(x, params.own_cap) * m[topics]
                word_term = (
                    np.maximum(tables.phi[word, topics] - own, 0) + params.beta
                ) / np.maximum(totals - own, params.beta_sum)
                new = word_term * (
                    np.maximum(tables.theta[slot, topics] - own, 0) + params.alpha[topics]
                )
                gain = x * (m[topics].sum() * new / new.sum() - m[topics])
                m[topics] += gain / x
                tables.theta[slot, topics] += gain
                tables.phi[word, topics] += gain
                active_set.moved[slot, topics] += np.abs(gain)
            change[p] += tables.theta[slot] - at_start
        tables.totals[:] += change.sum(axis=0)


def recall(
    graph: Graph, tables: Tables, params: SweepParams, word_weight: np.ndarray
) -> np.ndarray:
    """All messages as the tables imply them, laid out as the graph wants them."""
    w = graph.arrays
    mu = np.zeros(graph.message_size)
    for v, doc in enumerate(w.visit_doc):
        (slot,), topics, _ = _place(graph, doc)
        for i, e in enumerate(range(w.visit_edge[v], w.visit_edge[v + 1])):
            word, at = w.edge_word[e], w.visit_message[v] + i * len(topics)
            rows = tables.theta[slot, topics], tables.phi[word, topics], tables.totals[topics]
            weights = w.edge_x[e], graph.doc_weight[doc], word_weight[word]
            mu[at : at + len(topics)] = _implied(*rows, *weights, params, params.alpha[topics])
    return mu


def admit(
    counts, slot, tables: Tables, alpha, beta, keep, word_weight, least, enough
) -> np.ndarray:
    """(D, K) `keep` with the topics whose slope in the document's log-likelihood exceeds `enough`
    n_d; words speak for topics that hold much of them.
    """
    dense = counts.toarray()
    phi = (tables.phi + beta) / (tables.totals + len(tables.phi) * beta)
    speaks = tables.phi >= least * word_weight[:, None]
    theta = (tables.theta[slot] + alpha) / (dense.sum(axis=1) + alpha.sum())[:, None]
    likely = (theta * keep) @ phi.T
    slope = (dense / likely) @ (phi * speaks)
    return keep | (slope > enough * dense.sum(axis=1)[:, None])


def gibbs(
    graph: Graph,
    tables: Tables,
    z: np.ndarray,
    messages: Messages,
    fields: Fields,
    params: SweepParams,
) -> None:
    """One sweep of collapsed Gibbs sampling, in place, with the random numbers of the kernel."""
    w = graph.arrays
    for stage in range(graph.n_word_blocks):
        before, change = tables.theta.copy(), np.zeros((graph.n_doc_blocks, graph.width))
        for p, v in _visits(graph, messages, stage):
            doc = w.visit_doc[v]
            slots, topics, pairs = _place(graph, doc)
            grid = np.ix_(slots, topics)
            field_term = (
                fields.message[doc, topics] if fields.weight[doc] > 0 else np.zeros(len(topics))
            )
            for e in range(w.visit_edge[v], w.visit_edge[v + 1]):
                word = w.edge_word[e]
                for step in (-1, 1):  # take the token out, put it back where it is drawn
                    if step == 1:
                        none = np.zeros((len(slots), len(topics)))
                        total = (tables.totals + change[p])[topics] + params.beta_sum
                        odds = message(
                            tables.phi[word, topics], total, tables.theta[grid],
                            params.alpha[topics], params.word_prior[topics],
                            tables.owner_mass[pairs],
                            (none, none), params, field_term, fields.weight[doc],
                        ).ravel()  # fmt: skip
                        z[e] = np.searchsorted(
                            np.cumsum(odds),
                            uniforms(params.seed, w.edge_id[e : e + 1])[0] * odds.sum(),
                            side="right",
                        )
                    owner, topic = divmod(z[e], len(topics))
                    tables.theta[slots[owner], topics[topic]] += step
                    tables.owner_mass[pairs][owner] += step
                    if not params.frozen_words:
                        tables.phi[word, topics[topic]] += step
                        change[p, topics[topic]] += step
        _settle(graph, tables, before, change)


def count(graph: Graph, mu: np.ndarray) -> Tables:
    """The tables of given messages, without any base."""
    w = graph.arrays
    tables = Tables(
        np.zeros((graph.n_slots, graph.width)),
        np.zeros((graph.n_words, graph.width)),
        np.zeros(graph.width),
        np.zeros(len(w.slots)),
    )
    for v, doc in enumerate(w.visit_doc):
        slots, topics, pairs = _place(graph, doc)
        size = len(slots) * len(topics)
        for i, e in enumerate(range(w.visit_edge[v], w.visit_edge[v + 1])):
            mass = w.edge_x[e] * mu[
                w.visit_message[v] + i * size : w.visit_message[v] + (i + 1) * size
            ].reshape(len(slots), -1)
            tables.theta[np.ix_(slots, topics)] += mass
            tables.phi[w.edge_word[e], topics] += mass.sum(axis=0)
            tables.owner_mass[pairs] += mass.sum(axis=1)
    _settle(graph, tables, np.zeros_like(tables.theta))
    tables.totals[:] = tables.phi.sum(axis=0)
    return tables


def log_likelihood(counts, doc_topic: np.ndarray, topic_word: np.ndarray) -> np.ndarray:
    """(D,) log-likelihood of each document's counts."""
    return (counts.toarray() * np.log(doc_topic @ topic_word)).sum(axis=1)


def expected_digamma_gain(counts: np.ndarray, prior: np.ndarray, expected: bool) -> np.ndarray:
    """(K,) sum over rows of E[psi(n + a) - psi(a)], see `priors.py`."""
    counts = np.asarray(counts, dtype=np.float64)
    likely = -np.expm1(-counts) if expected else (counts > 0).astype(float)
    mean = np.divide(counts, likely, out=np.zeros_like(counts), where=likely > 0)
    return (likely * (psi(mean + prior) - psi(prior))).sum(axis=0)
