// The panel of a topic.

const WORDS_SHOWN = 20;
const DOCUMENTS_SHOWN = 8;
const SNIPPET = 220; // letters
const NAMES_SHOWN = 6; // of a document, in a line

function topicPanel(k, edits, onPoint) {
  const topic = topics[k];
  const place = bySize.indexOf(k);
  const step = (to, text, name) =>
    bySize[to] === undefined
      ? h("span", { class: "step", "aria-hidden": "true" }, text)
      : h("a", { class: "step", href: address("topic", bySize[to]), "aria-label": name }, text);
  return [
    h(
      "header",
      {},
      h(
        "p",
        { class: "faint" },
        `Topic ${k}, ${percent(topic.proportion)} of all words `,
        h(
          "span",
          { class: "steps" },
          step(place - 1, "‹", "The next larger topic"),
          step(place + 1, "›", "The next smaller topic"),
        ),
      ),
      h("h2", { tabindex: -1 }, label(k)),
      edits.controls(k),
    ),
    block("Words", relevanceSlider(k, onPoint)),
    block("Documents most about it", ...documentsOfTopic(k)),
    authorsOfTopic(k),
    ...prevalencePanels(k),
    block(
      "Close topics",
      topic.near.length > 0 &&
        scored(
          topic.near.map(([j, likeness]) => [topicLink(j), likeness]),
          1,
          (likeness) => likeness.toFixed(2),
        ),
      topic.near.length > 0 && h("p", { class: "faint" }, "1: the same words, 0: none in common"),
    ),
    placeInTree(k),
    topic.linked &&
      block(
        "Linked documents are about",
        topicBars([[k, topic.linked_self], ...topic.linked].sort((a, b) => b[1] - a[1])),
      ),
  ];
}

/** Words by relevance, and the slider that sets it. */
function relevanceSlider(k, onPoint) {
  const value = h("output", {}, state.relevance.toFixed(2));
  const input = h("input", {
    type: "range",
    id: "relevance",
    min: 0,
    max: 1,
    step: 0.05,
    value: state.relevance,
    "aria-describedby": "relevance-ends",
    oninput: () => {
      state.relevance = Number(input.value);
      keepAddress();
      draw();
    },
  });
  const chart = h("div");
  function draw() {
    value.textContent = state.relevance.toFixed(2);
    chart.replaceChildren(
      wordBars(k, relevantWords(k, state.relevance, WORDS_SHOWN), onPoint),
    );
  }
  draw();
  return h(
    "div",
    { class: "relevance" },
    h(
      "div",
      { class: "slider" },
      h("label", { for: "relevance" }, "Relevance ", value),
      h(
        "span",
        { class: "ends", id: "relevance-ends" },
        h("span", {}, "typical of it"),
        input,
        h("span", {}, "frequent in it"),
      ),
    ),
    chart,
  );
}

function documentsOfTopic(k) {
  if (!data.documents) {
    return [h("p", { class: "faint" }, "The model learned in batches and kept no documents.")];
  }
  const table = documentTable();
  const inTopic = (d) => row(table, d).find(([j]) => j === k)?.[1] ?? 0;
  const shown = data.documents.first[k].slice(0, DOCUMENTS_SHOWN).filter((d) => inTopic(d) > 0);
  return [
    scored(shown.map((d) => [documentLink(d), inTopic(d), [aboutDocument(d), snippet(d, k)]])),
  ];
}

/** A passage of a document with many words of the topic; they are coloured. */
function snippet(d, k) {
  const text = data.documents.texts?.[d];
  if (!text) return null;
  const [before, cut, spans, more] = passage(text, readText(text).spans, k, SNIPPET);
  const here = new Map([[k, "c0"]]);
  const ours = spans.filter((span) => span.k === k);
  return h("p", { class: "snippet" }, before, colouredText(cut, ours, here), more && " …");
}

/** Date and names of a document, in a line. */
function aboutDocument(d) {
  const { dates, columns } = data.documents;
  const said = Object.values(columns).flatMap(({ names, of }) => of[d].map((i) => names[i]));
  const line = [dates?.[d], ...said.slice(0, NAMES_SHOWN)].filter(Boolean).join(", ");
  return line ? h("small", { class: "about-document" }, line) : null;
}

function authorsOfTopic(k) {
  if (!data.authors) return null;
  const shown = data.authors.first[k].filter(([, part]) => part > 0.0005);
  return block(
    "Who writes most of it",
    shown.length > 0 &&
      scored(
        shown.map(([a, part]) => [link("author", data.authors.names[a], data.authors.names[a]), part]),
        shown[0][1],
      ),
  );
}

function documentName(d) {
  return data.documents.named ? data.documents.names[d] : `Document ${data.documents.names[d]}`;
}

function documentLink(d) {
  return link("document", data.documents.names[d], documentName(d));
}
