// The table of topics: sorted by its heads, filtered by words, names and numbers.

function makeTable(table, onFilter) {
  const body = table.tBodies[0];
  const rows = new Map(
    [...body.rows].map((line) => [Number(line.cells[0].textContent), line]),
  );
  const words = new Map([...rows].map(([k, line]) => [k, line.cells[2].textContent]));
  const keys = [
    (k) => k,
    (k) => -topics[k].proportion,
    (k) => `${given[k] ? 0 : 1}${label(k)}`.toLowerCase(),
  ];
  const sorting = { column: 1, reverse: false };
  const input = h("input", {
    type: "search",
    placeholder: "Filter topics",
    "aria-label": "Filter topics by name, words or number",
    oninput: filter,
  });
  const found = h("output", { class: "faint" });

  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const name = cell.textContent;
    cell.replaceChildren(h("button", { type: "button", onclick: () => sort(column) }, name));
  });
  const tools = h("div", { class: "tools" }, input, found);
  table.before(tools);

  function sort(column) {
    sorting.reverse = column === sorting.column && !sorting.reverse;
    sorting.column = column;
    const key = keys[column];
    const sign = sorting.reverse ? -1 : 1;
    const order = [...rows.keys()].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return sign * (x < y ? -1 : x > y ? 1 : a - b);
    });
    body.append(...order.map((k) => rows.get(k)));
    showSorting();
  }

  function showSorting() {
    [...table.tHead.rows[0].cells].forEach((cell, i) => {
      const upward = sorting.reverse !== (i === 1); // sizes start with the largest
      if (i !== sorting.column) cell.removeAttribute("aria-sort");
      else cell.setAttribute("aria-sort", upward ? "descending" : "ascending");
    });
  }

  function filter() {
    const asked = input.value.trim().toLowerCase();
    const matches = new Set();
    for (const [k, line] of rows) {
      const text = `${k} ${given[k]} ${words.get(k)}`.toLowerCase();
      const shown = !asked || (/^\d+$/.test(asked) ? String(k) === asked : text.includes(asked));
      line.hidden = !shown;
      if (shown) matches.add(k);
    }
    found.textContent = asked ? `${matches.size} of ${rows.size}` : "";
    onFilter(asked ? matches : null);
  }

  showSorting();
  return {
    tools,
    select(k) {
      for (const [j, line] of rows) {
        line.classList.toggle("selected", j === k);
        if (j === k) line.setAttribute("aria-current", "true");
        else line.removeAttribute("aria-current");
      }
    },
    /** Show new names, and what is to be done with topics. */
    rename(marks) {
      for (const [k, line] of rows) {
        const parts = [given[k] && h("b", {}, given[k]), marks[k] && h("mark", {}, marks[k])];
        const rest = words.get(k).slice(topics[k].name ? topics[k].name.length + 1 : 0);
        line.cells[2].replaceChildren(...parts.filter(Boolean).flatMap((p) => [p, " "]), rest);
      }
    },
  };
}
