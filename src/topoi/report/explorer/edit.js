// Edits: new names, topics to merge or delete, as JSON for `topoi edit MODEL --from edits.json`.

function makeEdits(onChange) {
  const merges = topics.map((_, k) => k); // topics with the same number are one
  const gone = new Set();

  function rename(k, name) {
    given[k] = name.trim();
    onChange();
  }

  function merge(k, j) {
    const [from, to] = [Math.max(merges[k], merges[j]), Math.min(merges[k], merges[j])];
    merges.forEach((number, i) => {
      if (number === from) merges[i] = to;
    });
    gone.delete(k);
    gone.delete(j);
    onChange();
  }

  /** Take a topic out of its group; the others stay together. */
  function separate(k) {
    const rest = group(k).filter((j) => j !== k);
    merges[k] = k;
    for (const j of rest) merges[j] = Math.min(...rest);
    onChange();
  }

  function remove(k, yes) {
    if (yes) {
      if (group(k).length > 1) separate(k);
      gone.add(k);
    } else gone.delete(k);
    onChange();
  }

  function group(k) {
    return bySize.filter((j) => merges[j] === merges[k]).sort((a, b) => a - b);
  }

  function asJson() {
    const names = {};
    given.forEach((name, k) => {
      if (name !== topics[k].name) names[k] = name;
    });
    const groups = topics.map((_, k) => group(k)).filter((all, k) => all.length > 1 && all[0] === k);
    return { names, merge: groups, delete: [...gone].sort((a, b) => a - b) };
  }

  function size() {
    const { names, merge: groups, delete: deleted } = asJson();
    return Object.keys(names).length + groups.length + deleted.length;
  }

  /** What the table says beside a topic. */
  function notes() {
    return topics.map((_, k) => {
      if (gone.has(k)) return "delete";
      const others = group(k).filter((j) => j !== k);
      return others.length ? `merge with ${others.join(", ")}` : "";
    });
  }

  function controls(k) {
    const name = h("input", {
      id: "name",
      value: given[k],
      placeholder: "Name this topic",
      maxlength: 200,
      "aria-label": "Name of this topic",
      onchange: () => rename(k, name.value),
    });
    const others = [...topics[k].near.map(([j]) => j), ...bySize].filter(
      (j, i, all) => j !== k && all.indexOf(j) === i,
    );
    const choice = h(
      "select",
      {
        "aria-label": "Merge with another topic",
        onchange: () => choice.value && merge(k, Number(choice.value)),
      },
      h("option", { value: "" }, "Merge with …"),
      others.map((j) => h("option", { value: j }, `${j} ${label(j)}`)),
    );
    const marked = gone.has(k);
    const deletion = h(
      "button",
      { type: "button", "aria-pressed": String(marked), onclick: () => remove(k, !marked) },
      marked ? "Keep" : "Delete",
    );
    const partners = group(k).filter((j) => j !== k);
    return h(
      "div",
      { class: "edit", role: "group", "aria-label": "Edit this topic" },
      name,
      choice,
      deletion,
      partners.length > 0 &&
        h(
          "p",
          {},
          `To be merged with ${partners.join(", ")}. `,
          h("button", { type: "button", onclick: () => separate(k) }, "Undo"),
        ),
    );
  }

  function view() {
    const edits = asJson();
    const text = JSON.stringify(edits, null, 1);
    const said = h("output", { class: "faint" });
    const undo = (what, act) =>
      h("li", {}, what, " ", h("button", { type: "button", onclick: act }, "Undo"));
    const list = [
      ...Object.entries(edits.names).map(([k, name]) =>
        undo(name ? `Name topic ${k} “${name}”` : `Remove the name of topic ${k}`, () =>
          rename(Number(k), topics[k].name),
        ),
      ),
      ...edits.merge.map((all) =>
        undo(`Merge topics ${all.join(", ")}`, () => all.forEach((k) => separate(k))),
      ),
      ...edits.delete.map((k) => undo(`Delete topic ${k}: ${label(k)}`, () => remove(k, false))),
    ];
    const head = h("header", {}, h("h2", { tabindex: -1 }, "Edits"));
    if (!list.length) {
      return [
        head,
        h("p", {}, "Select a topic to name it, to merge it with another, or to delete it. Your edits are listed here."),
      ];
    }
    return [
      head,
      h("ul", { class: "edits" }, list),
      h(
        "p",
        { class: "actions" },
        h("button", { type: "button", class: "main", onclick: () => download(text) }, "Save edits.json"),
        h(
          "button",
          {
            type: "button",
            onclick: async () => {
              await navigator.clipboard.writeText(text);
              said.textContent = "Copied";
            },
          },
          "Copy",
        ),
        said,
      ),
      h("p", {}, "Apply them to the model file with"),
      h("pre", {}, "topoi edit MODEL --from edits.json"),
      h("details", {}, h("summary", {}, "edits.json"), h("pre", {}, text)),
    ];
  }

  function download(text) {
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    h("a", { href: url, download: "edits.json" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    saved = text;
  }

  let saved = JSON.stringify(asJson(), null, 1);
  window.addEventListener("beforeunload", (event) => {
    if (JSON.stringify(asJson(), null, 1) !== saved) event.preventDefault(); // unsaved work
  });
  return { controls, view, notes, size };
}
