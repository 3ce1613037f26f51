// Topics of a text, inferred on the page: the fold-in of topoi/infer/predict.py, in the same passes.

const MOST_PASSES = 200;
const CONVERGED = 1e-4; // change of messages per token
const ANY_WORD = "[\\p{L}\\p{N}_]+";

/** The words of a text that the model knows: [{w, start, end}], as the model's vectoriser cuts it. */
function knownWords(text) {
  const how = data.words.prediction.tokens;
  const found = [];
  const spelled = how ? spelling(text, how) : text;
  for (const match of spelled.matchAll(new RegExp(how?.pattern ?? ANY_WORD, "gv"))) {
    const token = match[1] ?? match[0];
    const start = match.index + match[0].indexOf(token);
    found.push({ text: token, start, end: start + token.length });
  }
  const numbers = wordNumbers();
  if (!how) {
    return found
      .map(({ text: word, start, end }) => {
        const w = numbers.get(word) ?? numbers.get(word.toLowerCase());
        return { w, start, end };
      })
      .filter(({ w }) => w !== undefined);
  }
  const stop = new Set(how.stop);
  const left = joined(found).filter((token) => !stop.has(token.text));
  const known = [];
  for (let n = how.shortest; n <= how.longest; n += 1) {
    for (let i = 0; i + n <= left.length; i += 1) {
      const phrase = left.slice(i, i + n);
      const w = numbers.get(phrase.map((token) => token.text).join(" "));
      if (w !== undefined) known.push({ w, start: phrase[0].start, end: phrase[n - 1].end });
    }
  }
  return known.sort((a, b) => a.start - b.start);
}

const END = "\u001f"; // between words, in no word
const phraseKeys = lazy(() => new Set(data.words.prediction.tokens.phrases.map((all) => all.join(END))));
const longestPhrase = lazy(() =>
  Math.max(1, ...data.words.prediction.tokens.phrases.map((all) => all.length)),
);

/** Tokens with those of a phrase as one: from left to right, the longest phrase there. */
function joined(tokens) {
  const found = [];
  for (let at = 0; at < tokens.length; ) {
    let n = Math.min(longestPhrase(), tokens.length - at);
    const words = () => tokens.slice(at, at + n).map((token) => token.text);
    while (n > 1 && !phraseKeys().has(words().join(END))) n -= 1;
    const [start, end] = [tokens[at].start, tokens[at + n - 1].end];
    found.push({ text: words().join("_"), start, end });
    at += n;
  }
  return found;
}

/** A text in small letters or without accents, as the vectoriser has it; letters stay in place. */
function spelling(text, { lowercase, accents }) {
  const plain = (part) => {
    const small = lowercase ? part.toLowerCase() : part;
    return accents ? small.normalize("NFKD").replace(/\p{M}/gu, "") : small;
  };
  const all = plain(text);
  if (all.length === text.length) return all;
  return [...text].map((part) => (plain(part).length === part.length ? plain(part) : part)).join("");
}

/** Weights of words, as topoi/graph/weighting.py makes them of counts. */
function weigh(counts) {
  const { weighting, scale, idf, tokens } = data.words.prediction;
  const all = tokens?.binary ? counts.map(([w]) => [w, 1]) : counts;
  const total = all.reduce((sum, [, x]) => sum + x, 0);
  return all.map(([w, x]) => {
    const weight = weighting === "log" ? Math.log1p(x) : weighting === "count" ? x : x / total;
    return [w, weight * scale * (idf ? idf[w] : 1)];
  });
}

/** Word proportions of all topics for one word. */
function wordRow(w) {
  const { beta, sizes } = data.words.prediction;
  const table = wordTable();
  const proportions = Float64Array.from(sizes, (size) => beta / size);
  for (let at = table.start[w]; at < table.start[w + 1]; at += 1) {
    const k = table.column[at];
    proportions[k] = (table.value[at] + beta) / sizes[k];
  }
  return proportions;
}

/** Topic proportions of a text with these known words, and the topics of each of its words. */
function infer(known) {
  const counts = new Map();
  for (const { w } of known) counts.set(w, (counts.get(w) ?? 0) + 1);
  const edges = weigh([...counts].sort((a, b) => a[0] - b[0])).map(([w, x]) => ({
    w,
    x,
    likely: wordRow(w),
    message: new Float64Array(topics.length),
  }));
  const { alpha } = data.words.prediction;
  const side = new Float64Array(topics.length);
  const tokens = edges.reduce((sum, { x }) => sum + x, 0);
  for (let t = 0; t < MOST_PASSES; t += 1) {
    const moved = onePass(edges, side, t > 0);
    if (t > 0 && moved <= CONVERGED * tokens) break;
  }
  const total = tokens + alpha.reduce((sum, a) => sum + a, 0);
  return {
    proportions: Array.from(side, (n, k) => (n + alpha[k]) / total),
    messages: new Map(edges.map(({ w, message }) => [w, message])),
  };
}

/** Update all messages of a text. `counted`: whether its counts hold messages already. */
function onePass(edges, side, counted) {
  const { alpha, own, digamma: variational } = data.words.prediction;
  const prior = variational && counted ? expectedLogs(side, alpha) : null;
  const gained = new Float64Array(side.length);
  const next = new Float64Array(side.length);
  const inPlace = counted && !variational;
  let moved = 0;
  for (const { x, likely, message } of edges) {
    const removed = Math.min(x, own);
    let sum = 0;
    for (let k = 0; k < side.length; k += 1) {
      const mass = prior ? prior[k] : Math.max(side[k] - removed * message[k], 0) + alpha[k];
      next[k] = likely[k] * mass;
      sum += next[k];
    }
    for (let k = 0; k < side.length; k += 1) {
      const value = next[k] / sum;
      moved += x * Math.abs(value - message[k]);
      if (inPlace) side[k] += x * (value - message[k]);
      else gained[k] += x * value;
      message[k] = value;
    }
  }
  if (!inPlace) side.set(gained);
  return moved;
}

/** exp of the expected logarithms of proportions, for models of variational Bayes. */
function expectedLogs(side, alpha) {
  const counts = Array.from(side, (n, k) => n + alpha[k]);
  const level = digamma(counts.reduce((sum, n) => sum + n, 0));
  return counts.map((n) => Math.exp(digamma(n) - level));
}

function digamma(x) {
  let [at, sum] = [x, 0];
  for (; at < 10; at += 1) sum -= 1 / at;
  const inverse = 1 / (at * at);
  const series = inverse * (1 / 12 - inverse * (1 / 120 - inverse / 252));
  return sum + Math.log(at) - 0.5 / at - series;
}
