// Lists with bars.

/** A bar of some parts of its width, the longest first: [[part, class], ...]. */
function bar(...parts) {
  return h(
    "span",
    { class: "track", "aria-hidden": "true" },
    parts.map(([part, kind]) => {
      const piece = h("span", { class: kind });
      piece.style.width = `${100 * Math.min(Math.max(part, 0), 1)}%`;
      return piece;
    }),
  );
}

/** Words with bars of their use in all documents and, on top, in this topic. */
function wordBars(k, shown, onPoint) {
  const most = Math.max(...shown.map(({ w }) => uses(w)), 1e-9);
  const lines = shown.map(({ w, inTopic, count: here }) => {
    const all = uses(w);
    return h(
      "tr",
      { onpointerenter: () => onPoint(w), onpointerleave: () => onPoint(null) },
      h("th", { scope: "row" }, link("word", wordNames[w], wordNames[w])),
      h(
        "td",
        { class: "bars", title: `${amount(here)} of ${amount(all)} are in this topic` },
        bar([all / most, "all"], [here / most, "here"]),
      ),
      h("td", { class: "n" }, percent(inTopic)),
      h("td", { class: "n faint" }, percent(here / Math.max(all, 1e-9))),
    );
  });
  const head = ["Word", "In this topic, and in all", "Of topic", "Of word"].map((name, i) =>
    h("th", { scope: "col", class: i > 1 ? "n" : null }, name),
  );
  return h(
    "table",
    { class: "words" },
    h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, lines),
  );
}

/** Things with a bar each: [[link, part, what stands below it], ...]; `most` is the whole width. */
function scored(entries, most = 1, text = percent) {
  return h(
    "ul",
    { class: "scored" },
    entries.map(([content, part, below]) =>
      h(
        "li",
        {},
        h("span", { class: "what" }, content),
        bar([part / most, "here"]),
        h("span", { class: "n" }, text(part)),
        below,
      ),
    ),
  );
}

function topicBars(entries) {
  return scored(
    entries.map(([k, part]) => [topicLink(k), part]),
    Math.max(...entries.map((entry) => entry[1]), 1e-9),
  );
}

/** A part of the panel with a head, or nothing if there is nothing in it. */
function block(title, ...content) {
  const there = content.filter(Boolean);
  return there.length ? h("section", {}, h("h3", {}, title), ...there) : null;
}
