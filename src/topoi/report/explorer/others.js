// Panels of a word, a document and an author; what was not found.

const NEAREST_SHOWN = 8;

function wordPanel(word) {
  const w = wordNumbers().get(word);
  if (w === undefined) return missing("word", word);
  const entries = row(wordTable(), w);
  const total = entries.reduce((sum, [, n]) => sum + n, 0);
  const { sizes } = data.words.prediction;
  const shown = entries.slice(0, 12).map(([k, n]) => [k, n / total]);
  return [
    h(
      "header",
      {},
      h("p", { class: "faint" }, `Word, used ${amount(uses(w))} times`),
      h("h2", { tabindex: -1 }, word),
    ),
    block("Topics that use it: part of its uses", topicBars(shown)),
    block(
      "Topics in which it is most frequent",
      topicBars(
        entries
          .map(([k, n]) => [k, n / sizes[k]])
          .sort((a, b) => b[1] - a[1])
          .slice(0, 5),
      ),
    ),
  ];
}

const documentNumbers = lazy(() => new Map(data.documents.names.map((name, d) => [name, d])));

function documentPanel(name) {
  const d = data.documents ? documentNumbers().get(name) : undefined;
  if (d === undefined) return missing("document", name);
  const { texts, links, dates } = data.documents;
  const entries = row(documentTable(), d);
  const colours = coloursOf(entries);
  const linked = links?.[d] ?? [];
  return [
    h(
      "header",
      {},
      h("p", { class: "faint" }, dates?.[d] ? `Document, ${dates[d]}` : "Document"),
      h("h2", { tabindex: -1 }, documentName(d)),
      namesOf(d),
    ),
    block("Its topics", colouredTopics(entries, colours)),
    block(
      "Its text, words coloured by topic",
      texts?.[d] && colouredText(texts[d], readText(texts[d]).spans, colours),
    ),
    block(
      "Linked with",
      linked.length > 0 && h("ul", {}, linked.slice(0, 20).map((e) => h("li", {}, documentLink(e)))),
    ),
    block("Documents with the same topics", nearestDocuments(entries, d)),
  ];
}

/** Authors, labels and groups of a document. */
function namesOf(d) {
  const known = Object.entries(data.documents.columns).filter(([, { of }]) => of[d].length);
  const linkTo = (column, name) =>
    column === "authors" && data.authors && authorNumbers().has(name)
      ? link("author", name, name)
      : name;
  return h(
    "dl",
    {},
    known.flatMap(([column, { names, of }]) => [
      h("dt", {}, column),
      h("dd", {}, of[d].flatMap((i, n) => [n ? ", " : "", linkTo(column, names[i])])),
    ]),
  );
}

function nearestDocuments(entries, except) {
  const found = nearest(documentTable(), entries, NEAREST_SHOWN, except);
  const { names, total } = data.documents;
  const among = `among the ${amount(names.length)} of ${amount(total)} documents on this page`;
  return h(
    "div",
    {},
    scored(
      found.map(([d, likeness]) => [documentLink(d), likeness]),
      1,
      (likeness) => likeness.toFixed(2),
    ),
    h("p", { class: "faint" }, `1: the same proportions${names.length < total ? `; ${among}` : ""}`),
  );
}

const authorNumbers = lazy(() => new Map(data.authors.names.map((name, a) => [name, a])));

function authorPanel(name) {
  const a = data.authors ? authorNumbers().get(name) : undefined;
  if (a === undefined) return missing("author", name);
  const entries = row(authorTable(), a);
  const near = nearest(authorTable(), entries, NEAREST_SHOWN, a);
  const written = `Author of ${amount(data.authors.tokens[a])} words`;
  return [
    h("header", {}, h("p", { class: "faint" }, written), h("h2", { tabindex: -1 }, name)),
    block("Topics", topicBars(entries.slice(0, 12))),
    block(
      "Authors with the same topics",
      scored(
        near.map(([b, likeness]) => [link("author", data.authors.names[b], data.authors.names[b]), likeness]),
        1,
        (likeness) => likeness.toFixed(2),
      ),
    ),
  ];
}

function missing(kind, name) {
  const known = {
    word: `The page knows ${amount(wordNames.length)} of the model's ${amount(data.words.of)} words.`,
    document: data.documents
      ? `The page has ${amount(data.documents.names.length)} of ${amount(data.documents.total)} documents.`
      : "The model kept no documents.",
    author: data.authors
      ? `The page has ${amount(data.authors.names.length)} of ${amount(data.authors.total)} authors.`
      : "The model knows no authors.",
  };
  return [
    h("header", {}, h("h2", { tabindex: -1 }, `No ${kind} “${name}” here`)),
    h("p", {}, known[kind]),
  ];
}
