"""What is kept of messages until their block has its next turn: the largest numbers of each, as
parts of 65,535.
"""

from __future__ import annotations

from topoi.infer.kernels.primitives import compiled, f4, shape

WHOLE = 65535  # parts of 1


@compiled
def keep_stage(arrays, messages, places, parts, params, stage, worker, n_workers):
    """Put the largest numbers of each message of this worker's cells into `parts`, in descending
    order, and where in the message they stand into `places` (both (edges, M) uint16, `parts` 0).

    Documents own themselves.
    """
    K, M, mu, whole, half = len(params.alpha), parts.shape[1], messages.mu, f4(WHOLE), f4(0.5)
    visit_doc, visit_edge, visit_message = (
        arrays.visit_doc, arrays.visit_edge, arrays.visit_message
    )  # fmt: skip
    for p in range(worker, params.n_doc_blocks, n_workers):
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        for v in range(arrays.cell_visit[cell], arrays.cell_visit[cell + 1]):
            _, L, _, _ = shape(arrays, visit_doc[v], K)
            at = visit_message[v]
            for e in range(visit_edge[v], visit_edge[v + 1]):
                for k in range(L):
                    part = int(mu[at + k] * whole + half)
                    if part <= parts[e, M - 1]:
                        continue
                    j = M - 1
                    while j > 0 and parts[e, j - 1] < part:
                        parts[e, j], places[e, j] = parts[e, j - 1], places[e, j - 1]
                        j -= 1
                    parts[e, j], places[e, j] = min(part, WHOLE), k
                at += L


@compiled
def restore_stage(arrays, lists, theta, messages, places, parts, params, stage, worker, n_workers):
    """Give the messages of this worker's cells back what was kept of them, and count them into
    `theta` (slots, K).

    messages.mu is what the tables imply: the other numbers of a message share the rest in these
    proportions. lists: as in `count_stage`. Documents own themselves.
    """
    one, zero, tiny, whole = f4(1), f4(0), f4(1e-6), f4(WHOLE)
    K, M, mu = len(params.alpha), parts.shape[1], messages.mu
    visit_doc, visit_edge, visit_message, slot_ptr, slots, weights = (
        arrays.visit_doc,
        arrays.visit_edge,
        arrays.visit_message,
        arrays.slot_ptr,
        arrays.slots,
        arrays.edge_x,
    )
    for p in range(worker, params.n_doc_blocks, n_workers):
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        for v in range(arrays.cell_visit[cell], arrays.cell_visit[cell + 1]):
            doc = visit_doc[v]
            slot = slots[slot_ptr[doc]]
            _, L, first, _ = shape(arrays, doc, K)
            at = visit_message[v]
            for e in range(visit_edge[v], visit_edge[v + 1]):
                kept, implied = zero, zero
                for j in range(M):
                    if parts[e, j] > 0:
                        kept += parts[e, j] / whole
                        implied += mu[at + places[e, j]]
                rest = max(one - implied, zero)
                others = max(one - kept, zero) / max(rest, tiny)
                scale = one / (kept + others * rest)
                others *= scale
                for k in range(L):
                    mu[at + k] *= others
                for j in range(M):
                    if parts[e, j] > 0:
                        mu[at + places[e, j]] = parts[e, j] / whole * scale
                x = weights[e]
                if lists is not None:
                    if arrays.topic_ptr[doc + 1] > first:
                        for k in range(L):
                            theta[slot, lists[first + k]] += x * mu[at + k]
                        at += L
                        continue
                for k in range(L):
                    theta[slot, k] += x * mu[at + k]
                at += L
