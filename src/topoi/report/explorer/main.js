// The explorer: the map and the table of the page, beside a panel for what is selected.

const root = document.documentElement;
const panel = h("aside", { class: "panel", id: "panel", "aria-label": "Selected" });
const figure = document.querySelector("figure.map");
const editsLink = h("a", { href: address("page", "edits") }, "Edits");
let filtered = null;

const edits = makeEdits(() => {
  map.rename();
  table.rename(edits.notes());
  tree.rename();
  const n = edits.size();
  editsLink.textContent = n ? `Edits (${n})` : "Edits";
  render({ stay: true });
});

/** Entries [[topic, part], ...] as one number per topic, the largest 1. */
function spread(entries) {
  const most = Math.max(...entries.map((entry) => entry[1]), 1e-9);
  const all = new Float64Array(topics.length);
  for (const [k, part] of entries) all[k] = part / most;
  return all;
}

/** How much each topic is meant by the selection, from 0 to 1; null if all are alike. */
function emphasis(kind = state.kind, value = state.value) {
  if (kind === "word" && wordNumbers().has(value)) {
    return spread(row(wordTable(), wordNumbers().get(value)));
  }
  if (kind === "document" && data.documents && documentNumbers().has(value)) {
    return spread(row(documentTable(), documentNumbers().get(value)));
  }
  if (kind === "author" && data.authors && authorNumbers().has(value)) {
    return spread(row(authorTable(), authorNumbers().get(value)));
  }
  return filtered && spread([...filtered].map((k) => [k, 1]));
}

/** Show on the map which topics use a word that is pointed at. */
function pointAtWord(w) {
  const shown = w === null ? emphasis() : emphasis("word", wordNames[w]);
  map.emphasise(shown, selectedTopic());
}

function selectedTopic() {
  return state.kind === "topic" ? state.value : undefined;
}

function panelContent() {
  if (state.kind === "topic") return topicPanel(state.value, edits, pointAtWord);
  if (state.kind === "word") return wordPanel(state.value);
  if (state.kind === "document") return documentPanel(state.value);
  if (state.kind === "author") return authorPanel(state.value);
  if (state.kind === "page" && state.value === "text") return textPanel();
  if (state.kind === "page" && state.value === "edits") return edits.view();
  return [...document.getElementById("about").children].map((child) => child.cloneNode(true));
}

/** Show the selection everywhere. stay: the same thing again, so the reader stays where he is. */
function render({ stay = false } = {}) {
  root.classList.toggle("chosen", state.kind !== null);
  map.emphasise(emphasis(), selectedTopic());
  table.select(selectedTopic());
  tree.select(selectedTopic());
  const back = h("a", { class: "all", href: address() }, "← All topics");
  panel.replaceChildren(back, ...panelContent().filter(Boolean));
  if (stay) return;
  panel.scrollTop = 0;
  if (state.kind === null) return;
  if (getComputedStyle(back).display !== "none") window.scrollTo(0, 0); // one column
  panel.querySelector("h2").focus({ preventScroll: true });
}

root.classList.add("scripted");
document.querySelector("main").append(panel);
document.querySelector("body > header").append(
  makeSearch(),
  h(
    "nav",
    { "aria-label": "Pages" },
    h("a", { href: address() }, "About"),
    h("a", { href: address("page", "text") }, "Topics of a text"),
    editsLink,
  ),
);
const map = makeMap(figure);
const colours = colourChoice(map);
if (colours) figure.append(colours);
const table = makeTable(document.querySelector("table.topics"), (matches) => {
  filtered = matches;
  tree.filter(matches);
  map.emphasise(emphasis(), selectedTopic());
});
const tree = makeTree(document.querySelector("section.tree"), table.tools);
window.addEventListener("hashchange", () => {
  readAddress();
  render();
});
if (framed) {
  document.addEventListener("click", (event) => {
    const to = event.target.closest("a")?.getAttribute("href");
    if (!to?.startsWith("#")) return;
    event.preventDefault();
    follow(to);
  });
}
readAddress();
render({ stay: true });
