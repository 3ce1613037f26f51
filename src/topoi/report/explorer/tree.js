// The tree of topics beside their table, and the place of a topic in it.

const STEPS_SHOWN = 4; // of a topic's way to the root
const NAMED = 2; // topics of a group, in a line

/** The tree of the page. A choice beside the filter shows it instead of the table. */
function makeTree(section, tools) {
  if (!section) return { select() {}, filter() {}, rename() {} };
  const leaves = new Map(
    [...section.querySelectorAll("li > a")].map((anchor) => [
      Number(anchor.querySelector("b").textContent),
      anchor,
    ]),
  );
  const views = VIEWS.map((view) =>
    h("button", { type: "button", onclick: () => choose(view) }, view === "tree" ? "Tree" : "Table"),
  );
  tools.append(h("span", { class: "views", role: "group", "aria-label": "Show topics as" }, views));

  function choose(view) {
    state.view = view;
    keepAddress();
    show();
  }

  function show() {
    root.classList.toggle("as-tree", state.view === "tree");
    views.forEach((button, i) => {
      button.setAttribute("aria-pressed", String((i === 1) === (state.view === "tree")));
    });
  }

  return {
    /** Mark a topic, and open the groups that it is in. */
    select(k) {
      show();
      for (const [j, anchor] of leaves) {
        anchor.classList.toggle("selected", j === k);
        if (j === k) anchor.setAttribute("aria-current", "true");
        else anchor.removeAttribute("aria-current");
      }
      for (let at = leaves.get(k)?.closest("details"); at; at = at.parentElement.closest("details")) {
        at.open = true;
      }
    },
    /** Show only these topics, and the groups that have some of them; null: all. */
    filter(matches) {
      for (const [k, anchor] of leaves) {
        anchor.parentElement.hidden = matches !== null && !matches.has(k);
      }
      for (const group of section.querySelectorAll("details")) {
        group.parentElement.hidden = !group.querySelector("li:not([hidden]) > a");
      }
    },
    rename() {
      for (const [k, anchor] of leaves) anchor.replaceChildren(h("b", {}, k), ` ${label(k)}`);
    },
  };
}

/** For each node of the tree: topics in it, and the node that it is merged into. */
const treeNodes = lazy(() => {
  const nodes = topics.map((_, k) => ({ topics: [k], parent: null }));
  data.tree.forEach(([left, right], i) => {
    const inside = [...nodes[left].topics, ...nodes[right].topics];
    nodes.push({ topics: inside, parent: null });
    for (const child of [left, right]) nodes[child].parent = i;
  });
  return nodes;
});

/** What a topic is merged with on its way to the root of the tree. */
function placeInTree(k) {
  if (!data.tree.length) return null;
  const nodes = treeNodes();
  const steps = [];
  for (let at = k; nodes[at].parent !== null && steps.length < STEPS_SHOWN; ) {
    const [left, right, likeness] = data.tree[nodes[at].parent];
    steps.push([namesInGroup(nodes[left === at ? right : left].topics), likeness]);
    at = topics.length + nodes[at].parent;
  }
  return block(
    "In the tree it joins, one after the other",
    scored(steps, 1, (likeness) => likeness.toFixed(2)),
  );
}

/** Links to the largest topics of a group, and how many others there are. */
function namesInGroup(inside) {
  const largestFirst = bySize.filter((k) => inside.includes(k));
  const named = largestFirst.slice(0, NAMED).flatMap((k, i) => [i ? ", " : "", topicLink(k)]);
  const others = largestFirst.length - NAMED;
  return others > 0 ? [...named, `, and ${others} more`] : named;
}
