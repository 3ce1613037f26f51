// Texts whose words are coloured by topic, and the panel for a text that is typed or pasted.

const COLOURS = 7; // topics of a text, or groups, that have a colour; the others share one
const COLOUR_CLASSES = [...times(COLOURS, (i) => `c${i}`), "other"];

/** The classes of the colours of a text's largest topics: Map of topic to "c0", "c1", ... */
function coloursOf(entries) {
  return new Map(entries.slice(0, COLOURS).map(([k], i) => [k, `c${i}`]));
}

/** A text with its known words as links to their topics, coloured: spans are [{start, end, k}]. */
function colouredText(text, spans, colours) {
  const pieces = [];
  let at = 0;
  for (const { start, end, k } of spans) {
    if (start < at) continue; // a word inside a phrase
    pieces.push(text.slice(at, start));
    const hover = `topic ${k}: ${label(k)}`;
    const kind = `word ${colours.get(k) ?? "other"}`;
    pieces.push(h("a", { class: kind, href: address("topic", k), title: hover }, text.slice(start, end)));
    at = end;
  }
  return h("div", { class: "reading" }, ...pieces, text.slice(at));
}

/** Topics with the colours they have in a text. */
function colouredTopics(entries, colours) {
  const most = entries[0]?.[1] ?? 1;
  const line = ([k, part]) => [
    [h("span", { class: `swatch ${colours.get(k) ?? "other"}` }), topicLink(k)],
    part,
  ];
  return scored(entries.map(line), most);
}

function largest(proportions, n, least) {
  return [...proportions.entries()]
    .filter(([, part]) => part >= least)
    .sort((a, b) => b[1] - a[1])
    .slice(0, n);
}

/** The known words of a text with their topics, and its topic proportions. */
function readText(text) {
  const known = knownWords(text);
  const { proportions, messages } = infer(known);
  const spans = known.map(({ w, start, end }) => ({ start, end, k: topicOf(messages.get(w)) }));
  return { spans, entries: largest(proportions, 10, 0.01) };
}

/** The part of a text that has most words of topic k, about n letters long. */
function passage(text, spans, k, n) {
  const ours = spans.filter((span) => span.k === k);
  const inside = (from) => ours.filter(({ start, end }) => start >= from && end <= from + n).length;
  const starts = ours.map(({ start }) => Math.max(start - 20, 0));
  const best = starts.reduce((a, b) => (inside(b) > inside(a) ? b : a), starts[0] ?? 0);
  const from = best === 0 ? 0 : text.indexOf(" ", best - 1) + 1;
  const space = text.lastIndexOf(" ", from + n);
  const to = from + n >= text.length ? text.length : space > from ? space : from + n;
  const shown = spans
    .filter(({ start, end }) => start >= from && end <= to)
    .map(({ k: topic, start, end }) => ({ k: topic, start: start - from, end: end - from }));
  return [`${from ? "… " : ""}`, text.slice(from, to).replace(/\s/g, " "), shown, to < text.length];
}

function topicOf(message) {
  return message.indexOf(Math.max(...message));
}

let typed = ""; // stays on the page, and nowhere else

function textPanel() {
  const result = h("div", { "aria-live": "polite" });
  const area = h("textarea", {
    rows: 6,
    id: "typed",
    placeholder: "Type or paste a text",
    oninput: () => {
      typed = area.value;
      clearTimeout(waiting);
      waiting = setTimeout(assign, 150);
    },
  });
  let waiting = 0;
  area.value = typed;

  function assign() {
    const text = typed.normalize("NFC");
    const known = text.trim() ? knownWords(text) : [];
    result.replaceChildren(...(known.length ? assigned(text, known) : [nothingKnown(text)]));
  }

  assign();
  return [
    h("header", {}, h("h2", { tabindex: -1 }, h("label", { for: "typed" }, "Topics of a text"))),
    area,
    h("p", { class: "faint" }, aboutAssignment()),
    result,
  ];
}

function nothingKnown(text) {
  return h("p", {}, text.trim() ? "The model knows none of these words." : "");
}

function assigned(text, known) {
  const { spans, entries } = readText(text);
  const colours = coloursOf(entries);
  return [
    block(`Topics, from ${amount(known.length)} known words`, colouredTopics(entries, colours)),
    block("The text", colouredText(text, spans, colours)),
    data.documents && block("Documents like it", nearestDocuments(entries)),
  ];
}

/** How good the assignment is: where it differs from `model.transform`. */
function aboutAssignment() {
  const { names, of, covered, prediction } = data.words;
  const said = ["Inferred here, as the model's transform does; nothing leaves the page."];
  if (names.length < of) {
    const which = `${amount(names.length)} of ${amount(of)} words, ${percent(covered)} of all uses`;
    said.push(`This page knows ${which}.`);
  }
  if (!prediction.tokens) {
    said.push("The page does not know how the model's texts were cut into words, so it looks for its words as they are.");
  }
  return said.join(" ");
}
