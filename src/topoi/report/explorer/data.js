// What the page knows: topics, words, documents, authors (src/topoi/report/data.py writes it).

const data = JSON.parse(document.getElementById("data").textContent);
const topics = data.topics;
const wordNames = data.words.names;
const bySize = times(topics.length, (k) => k).sort((a, b) => topics[b].proportion - topics[a].proportion);

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) out[i] = raw.charCodeAt(i);
  return out;
}

/** A packed table (packing.py): row i has the entries from start[i] to start[i + 1]. */
function unpack(packed) {
  const sizes = new Uint16Array(bytes(packed.sizes).buffer);
  const columns = bytes(packed.columns);
  const codes = bytes(packed.values);
  const start = new Uint32Array(sizes.length + 1);
  sizes.forEach((size, i) => {
    start[i + 1] = start[i] + size;
  });
  return {
    start,
    column: columns.length === codes.length ? columns : new Uint16Array(columns.buffer),
    value: Float32Array.from(codes, (code) => packed.low * Math.exp(code * packed.step)),
  };
}

/** The entries of a row, the largest first: [[column, value], ...]. */
function row(table, i) {
  const entries = [];
  for (let at = table.start[i]; at < table.start[i + 1]; at += 1) {
    entries.push([table.column[at], table.value[at]]);
  }
  return entries.sort((a, b) => b[1] - a[1]);
}

const wordTable = lazy(() => unpack(data.words.table));
const wordNumbers = lazy(() => new Map(wordNames.map((word, w) => [word, w])));
const documentTable = lazy(() => unpack(data.documents.topics));
const authorTable = lazy(() => unpack(data.authors.topics));

/** The words of a topic in the order of their relevance (Sievert and Shirley 2014). */
function relevantWords(k, relevance, n) {
  const { words, counts, parts } = topics[k];
  const ranked = words.map((w, i) => {
    const score = Math.log(parts[i]) - (1 - relevance) * Math.log(data.words.marginal[w]);
    return { w, inTopic: parts[i], count: counts[i], score };
  });
  return ranked.sort((a, b) => b.score - a.score || a.w - b.w).slice(0, n);
}

/** How often a word is used in all documents. */
function uses(w) {
  return data.words.counts[w] ?? row(wordTable(), w).reduce((sum, [, n]) => sum + n, 0);
}

/** Names that people have given, on this page or before; otherwise words that are typical. */
const given = topics.map((topic) => topic.name);
const firstWords = topics.map((_, k) => relevantWords(k, 0.6, 3).map(({ w }) => wordNames[w]));

function label(k) {
  const phrases = firstWords[k].some((word) => word.includes(" "));
  return given[k] || firstWords[k].join(phrases ? ", " : " ");
}

/** How alike two rows of a table are: the sum of roots of products, 1 if they are equal. */
function affinity(table, i, weights) {
  let sum = 0;
  for (let at = table.start[i]; at < table.start[i + 1]; at += 1) {
    sum += Math.sqrt(table.value[at] * weights[table.column[at]]);
  }
  return sum;
}

/** The n rows of a table that are most like these proportions: [[row, affinity], ...]. */
function nearest(table, entries, n, except) {
  const weights = new Float64Array(topics.length);
  for (const [k, part] of entries) weights[k] = part;
  const found = [];
  for (let i = 0; i + 1 < table.start.length; i += 1) {
    if (i !== except) found.push([i, affinity(table, i, weights)]);
  }
  return found.sort((a, b) => b[1] - a[1]).slice(0, n);
}
