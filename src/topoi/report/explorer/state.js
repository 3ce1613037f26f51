// What is selected. The address keeps it: #topic=7&relevance=0.4, #word=tax, #document=..., #author=...

const RELEVANCE = 0.6; // what Sievert and Shirley recommend
const KINDS = ["topic", "word", "document", "author", "page"];
const VIEWS = ["table", "tree"]; // how all topics are shown
const state = { kind: null, value: null, relevance: RELEVANCE, view: VIEWS[0] };
const framed = location.protocol === "about:"; // in a notebook, where a page has no address
let kept = ""; // then this is it

/** The address of a selection, such as address("topic", 7); without arguments, of none. */
function address(kind, value) {
  return kind ? `#${new URLSearchParams([[kind, value]])}` : "#";
}

/** Select what the address says; a topic that does not exist is no selection. */
function readAddress() {
  const here = framed ? kept : location.hash;
  const plain = /^#topic-(\d+)$/.exec(here); // links of the page without scripts
  const params = new URLSearchParams(plain ? `topic=${plain[1]}` : here.slice(1));
  state.kind = KINDS.find((kind) => params.has(kind)) ?? null;
  state.value = state.kind && params.get(state.kind);
  if (state.kind === "topic") {
    state.value = Number(state.value);
    if (!topics[state.value]) state.kind = null;
  }
  const relevance = Number(params.get("relevance") ?? state.relevance); // a slider stays in place
  if (relevance >= 0 && relevance <= 1) state.relevance = relevance;
  if (VIEWS.includes(params.get("view"))) state.view = params.get("view");
  keepAddress();
}

/** Write the whole selection to the address, without a step in the history. */
function keepAddress() {
  const slider = state.kind === "topic" && state.relevance !== RELEVANCE;
  const more = [slider && `relevance=${state.relevance}`, state.view !== VIEWS[0] && `view=${state.view}`];
  const start = address(state.kind, state.value);
  const whole = [start, ...more.filter(Boolean)].join("&").replace("#&", "#");
  if (framed) kept = whole;
  else history.replaceState(null, "", whole);
}

function select(kind, value) {
  follow(address(kind, value));
}

/** Go to an address of this page. */
function follow(to) {
  if (!framed) {
    location.hash = to;
    return;
  }
  kept = to;
  readAddress();
  render();
}

/** A link that selects something. */
function link(kind, value, ...content) {
  return h("a", { href: address(kind, value) }, ...content);
}

function topicLink(k) {
  return link("topic", k, h("b", {}, String(k)), ` ${label(k)}`);
}
