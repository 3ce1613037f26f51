// Prevalence of a topic over time and by group, with intervals; colours of topics by group.

const MOST_PERIOD_LABELS = 6; // on the axis of time, beside the first
const SVG = document.querySelector("svg").namespaceURI;

/** An SVG element. */
function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function prevalencePanels(k) {
  return data.prevalence.map((one) => {
    const values = one.topics[k];
    const title = one.time ? "Over time" : `By ${one.name}`;
    return block(title, one.time ? timeChart(one, values) : groupBars(one, values));
  });
}

/** Which of n periods have a label: the first, the last, and some between, evenly. */
function periodsShown(n) {
  const step = Math.ceil((n - 1) / MOST_PERIOD_LABELS) || 1;
  return times(n, (i) => i).filter((i) => i === n - 1 || (i % step === 0 && n - 1 - i > step / 2));
}

/** A line with its interval; both axes have labels. */
function timeChart(one, values) {
  const [width, height, left, right, bottom] = [520, 170, 46, 500, 38];
  const top = Math.max(...values.map((three) => three[2]), 1e-6);
  const across = (i) => left + ((right - left) * i) / Math.max(values.length - 1, 1);
  const down = (value) => 8 + (height - bottom - 8) * (1 - value / top);
  const points = (index) => values.map((three, i) => `${across(i)},${down(three[index])}`);
  const base = height - bottom;
  const text = (x, y, said, anchor) => s("text", { x, y, "text-anchor": anchor }, said);
  const last = values.length - 1;
  return s(
    "svg",
    {
      class: "curve time",
      role: "img",
      viewBox: `0 0 ${width} ${height}`,
      "aria-label": `Mean proportion in documents: ${percent(values[0][0])} in ${one.groups[0]}, ${percent(values[last][0])} in ${one.groups[last]}`,
    },
    s("polygon", { points: [...points(1), ...points(2).reverse()].join(" ") }),
    s("line", { x1: left, y1: base, x2: right, y2: base }),
    s("line", { x1: left, y1: 4, x2: left, y2: base }),
    s("polyline", { points: points(0).join(" ") }),
    text(left - 6, 14, percent(top), "end"),
    text(left - 6, base, "0", "end"),
    periodsShown(values.length).map((i) => text(across(i), base + 16, one.groups[i], "middle")),
    periodsShown(values.length).map((i) =>
      s("line", { x1: across(i), y1: base, x2: across(i), y2: base + 3 }),
    ),
    text((left + right) / 2, base + 32, "mean proportion in documents, with 95% intervals", "middle"),
  );
}

/** Bars of the groups in which the topic is most frequent; a thin line for the interval. */
function groupBars(one, values) {
  const order = times(values.length, (i) => i).sort((a, b) => values[b][0] - values[a][0]).slice(0, 8);
  const most = Math.max(...order.map((i) => values[i][2]), 1e-6);
  const list = scored(
    order.map((i) => [`${one.groups[i]} `, values[i][0]]),
    most,
  );
  [...list.children].forEach((line, n) => {
    const [, low, high] = values[order[n]];
    const whisker = h("span", { class: "interval" });
    whisker.style.left = `${(100 * low) / most}%`;
    whisker.style.width = `${(100 * (high - low)) / most}%`;
    line.querySelector(".track").append(whisker);
    line.title = `${percent(low)} to ${percent(high)}, ${amount(one.documents[order[n]])} documents`;
  });
  return list;
}

/** A choice of colours for the map: by the group in which a topic is most frequent. */
function colourChoice(map) {
  const columns = data.prevalence.filter((one) => !one.time);
  if (!columns.length) return null;
  const legend = h("span", { class: "legend" });
  const choice = h(
    "select",
    { "aria-label": "Colour topics by", onchange: colour },
    h("option", { value: "" }, "One colour"),
    columns.map((one, i) => h("option", { value: i }, `Colour by ${one.name}`)),
  );
  function colour() {
    legend.replaceChildren();
    if (choice.value === "") {
      map.colour(null);
      return;
    }
    const one = columns[Number(choice.value)];
    const main = one.topics.map((values) =>
      values.reduce((best, three, i) => (three[0] > values[best][0] ? i : best), 0),
    );
    const sizes = one.groups.map((_, i) => main.filter((group) => group === i).length);
    const shown = times(sizes.length, (i) => i)
      .filter((i) => sizes[i])
      .sort((a, b) => sizes[b] - sizes[a]);
    const classes = new Map(shown.slice(0, COLOURS).map((group, i) => [group, `c${i}`]));
    map.colour(main.map((group) => classes.get(group) ?? "other"));
    const names = shown.slice(0, COLOURS).map((group) => [classes.get(group), one.groups[group]]);
    if (shown.length > COLOURS) names.push(["other", "others"]);
    legend.append(
      ...names.map(([kind, name]) => h("span", {}, h("span", { class: `swatch ${kind}` }), name)),
    );
  }
  return h("div", { class: "colours" }, choice, legend);
}
