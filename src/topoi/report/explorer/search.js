// Search: topics, words, documents and authors by what is typed; longer texts are assigned topics.

const SUGGESTED = { topic: 4, word: 6, document: 6, author: 4 };
const LONG_TEXT = 60; // letters that are no search any more

/** The first n names with the text in them; those that begin with it come first. */
function matching(names, asked, n) {
  const first = [];
  const inside = [];
  for (let i = 0; i < names.length && first.length < n; i += 1) {
    const at = names[i].toLowerCase().indexOf(asked);
    if (at === 0) first.push(i);
    else if (at > 0 && inside.length < n) inside.push(i);
  }
  return [...first, ...inside].slice(0, n);
}

function suggestions(typedText) {
  const asked = typedText.trim().toLowerCase();
  if (!asked) return [];
  const found = [];
  const add = (kind, names, name = (i) => names[i], value = name) => {
    for (const i of matching(names, asked, SUGGESTED[kind])) {
      found.push({ kind, value: value(i), text: name(i) });
    }
  };
  const exact = wordNumbers().has(asked);
  if (exact) found.push({ kind: "word", value: asked, text: asked });
  if (/^\d+$/.test(asked) && topics[Number(asked)]) {
    found.push({ kind: "topic", value: Number(asked), text: `${asked} ${label(Number(asked))}` });
  }
  add("topic", topics.map((_, k) => label(k)), (k) => `${k} ${label(k)}`, (k) => k);
  add("word", wordNames);
  if (data.documents) add("document", data.documents.names);
  if (data.authors) add("author", data.authors.names);
  const seen = new Set();
  const once = found.filter(({ kind, value }) => {
    const key = `${kind} ${value}`;
    return !seen.has(key) && seen.add(key);
  });
  if (/\s/.test(asked)) {
    const assignment = { kind: "page", value: "text", text: "Assign topics to this text" };
    if (asked.length > LONG_TEXT) once.unshift(assignment);
    else once.push(assignment);
  }
  return once;
}

function makeSearch() {
  let [shown, active] = [[], -1];
  const list = h("ul", { role: "listbox", id: "found", "aria-label": "Suggestions", hidden: true });
  const input = h("input", {
    type: "search",
    role: "combobox",
    placeholder: "Search a word, a document, a topic; or paste a text",
    "aria-label": "Search",
    "aria-expanded": "false",
    "aria-controls": "found",
    "aria-autocomplete": "list",
    autocomplete: "off",
    oninput: suggest,
    onfocus: suggest,
    onblur: close, // suggestions do not take the focus, so that they can be clicked
    onkeydown: (event) => {
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (move && shown.length) point((active + move + shown.length) % shown.length);
      else if (event.key === "Enter" && shown.length) choose(shown[Math.max(active, 0)]);
      else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
    },
  });

  function suggest() {
    shown = suggestions(input.value);
    active = -1;
    input.removeAttribute("aria-activedescendant");
    list.replaceChildren(...shown.map(suggestion));
    if (input.value.trim() && !shown.length) {
      list.replaceChildren(h("li", { class: "faint" }, "Nothing found"));
    }
    list.hidden = !input.value.trim();
    input.setAttribute("aria-expanded", String(!list.hidden));
  }

  function suggestion(one, i) {
    const kind = one.kind === "page" ? "text" : one.kind;
    return h(
      "li",
      {
        role: "option",
        id: `found-${i}`,
        "aria-selected": "false",
        onpointerdown: (event) => event.preventDefault(), // the focus stays
        onclick: () => choose(one),
      },
      h("span", {}, one.text),
      h("small", {}, kind),
    );
  }

  function point(i) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = i;
    list.children[i].setAttribute("aria-selected", "true");
    list.children[i].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", `found-${i}`);
  }

  function choose({ kind, value }) {
    if (kind === "page") typed = input.value;
    close();
    input.value = "";
    if (kind === "page" && state.kind === "page" && state.value === "text") render();
    else select(kind, value);
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  }

  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest("input, textarea, select");
    if (event.key !== "/" || writing) return;
    event.preventDefault();
    input.focus();
  });
  return h("div", { class: "search", role: "search", "aria-label": "Search" }, input, list);
}
