// The map: zoom, labels that never cover each other, colours.

const LETTERS = 12; // pixels, at any zoom
const MOST_ZOOM = 40;
const LONG_LABEL = 24; // letters of a label, if there is room
const SHORT_LABEL = 13; // otherwise
const LINE = 1.3 * LETTERS;
const BOLD = 1.16; // width of bold letters, those of the selected topic, to that of others

/** What the drawing of each topic is made of. */
function circlesOf() {
  return topics.map((_, k) => {
    const anchor = document.getElementById(`circle-${k}`);
    const circle = anchor.querySelector("circle");
    const [id, name] = anchor.querySelectorAll("text");
    const [x, top, r] = ["cx", "cy", "r"].map((key) => Number(circle.getAttribute(key)));
    const text = name.textContent;
    return { anchor, circle, id, name, text, x, y: top, top, r, letters: 0 };
  });
}

function overlap(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

/** Where a label may stand, best first: below its circle, above, right, left, at its corners. */
function labelBoxes([left, top, right, bottom], half) {
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const box = (cx, cy) => [cx - half, cy - LINE / 2, cx + half, cy + LINE / 2];
  const [below, above] = [bottom + LINE / 2, top - LINE / 2];
  const aside = Math.max(half - (right - left) / 2, 0); // an end of the label meets the circle's
  const moved = [aside, -aside, aside / 2, -aside / 2];
  return [
    box(x, below),
    box(x, above),
    box(right + half + 4, y),
    box(left - half - 4, y),
    ...moved.flatMap((by) => [box(x + by, below), box(x + by, above)]),
  ];
}

function makeMap(figure) {
  const svg = figure.querySelector("svg");
  const [, , width, drawnHeight] = svg.getAttribute("viewBox").split(" ").map(Number);
  const marks = circlesOf();
  const view = { x: 0, y: 0, zoom: 1 };
  let [height, pending] = [drawnHeight, 0];

  /** Widths of labels, in units of the size of their letters. */
  function measure() {
    const size = Number(svg.getAttribute("font-size"));
    for (const mark of marks) {
      mark.name.classList.remove("more"); // what is hidden has no width
      mark.name.textContent = mark.text;
      mark.letters = mark.name.getComputedTextLength() / size;
    }
  }

  /** On a narrow screen the map is stretched to be as high as it is wide; circles stay round. */
  function stretch() {
    const room = svg.clientWidth < 500 ? 1.05 * width : 0;
    height = Math.max(drawnHeight, room);
    for (const mark of marks) {
      mark.y = mark.top * (height / drawnHeight);
      mark.circle.setAttribute("cy", mark.y);
      mark.id.setAttribute("y", mark.y);
    }
  }

  /** Show the labels that have room: that of the selected topic, then those of large ones. */
  function place() {
    pending = 0;
    const scale = (svg.clientWidth / width) * view.zoom;
    if (!scale) return; // not on the screen
    svg.setAttribute("font-size", LETTERS / scale);
    const boxes = marks.map(({ x, y, r }) => [x - r, y - r, x + r, y + r].map((at) => at * scale));
    const taken = [];
    const clear = (box, k) =>
      box[0] >= 0 &&
      box[1] >= 0 &&
      box[2] <= width * scale &&
      box[3] <= height * scale &&
      !taken.some((other) => overlap(box, other)) &&
      !boxes.some((other, j) => j !== k && overlap(box, other));
    const chosen = selectedTopic();
    for (const k of chosen === undefined ? bySize : [chosen, ...bySize.filter((j) => j !== chosen)]) {
      const { id, name, text, letters, r } = marks[k];
      const room = (said) => {
        const each = (letters * LETTERS * (k === chosen ? BOLD : 1)) / text.length;
        const half = (each * said.length) / 2 + 3;
        return labelBoxes(boxes[k], half).find((one) => clear(one, k));
      };
      const said = room(text) ? text : shorten(text, SHORT_LABEL);
      const box = room(said);
      name.classList.toggle("more", !box);
      if (box) {
        taken.push(box);
        if (name.textContent !== said) name.textContent = said;
        name.setAttribute("x", (box[0] + box[2]) / 2 / scale);
        name.setAttribute("y", (box[1] + LINE * 0.78) / scale);
        name.removeAttribute("dy");
      }
      id.classList.toggle("tiny", r * scale < 0.3 * LETTERS * (String(k).length + 1));
    }
  }

  function show() {
    const [w, tall] = [width / view.zoom, height / view.zoom];
    view.x = Math.min(Math.max(view.x, 0), width - w);
    view.y = Math.min(Math.max(view.y, 0), height - tall);
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${w} ${tall}`);
    svg.classList.toggle("zoomed", view.zoom > 1);
    pending ||= requestAnimationFrame(place);
  }

  /** Zoom by a factor; the point (x, y) of the map stays where it is. */
  function zoom(factor, x = view.x + width / view.zoom / 2, y = view.y + height / view.zoom / 2) {
    const next = Math.min(Math.max(view.zoom * factor, 1), MOST_ZOOM);
    const part = view.zoom / next;
    Object.assign(view, { x: x - (x - view.x) * part, y: y - (y - view.y) * part, zoom: next });
    show();
  }

  function reset() {
    Object.assign(view, { x: 0, y: 0, zoom: 1 });
    show();
  }

  function zoomButtons() {
    const button = (text, name, act) =>
      h("button", { type: "button", title: name, "aria-label": name, onclick: act }, text);
    return h(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      button("+", "Zoom in (also Ctrl and wheel)", () => zoom(1.6)),
      button("−", "Zoom out", () => zoom(1 / 1.6)),
      button("⤢", "Show the whole map", reset),
    );
  }

  /** Emphasise topics by weights from 0 to 1 (null: all alike), and mark the selected one. */
  function emphasise(weights, selected) {
    marks.forEach(({ anchor, circle, name }, k) => {
      anchor.classList.toggle("selected", k === selected);
      anchor.tabIndex = k === (selected ?? bySize[0]) ? 0 : -1;
      anchor.setAttribute("aria-current", k === selected);
      const opacity = weights ? 0.12 + 0.88 * Math.sqrt(weights[k]) : "";
      circle.style.opacity = opacity;
      name.style.opacity = weights && weights[k] < 0.05 ? 0.45 : "";
    });
    show();
  }

  /** Colour topics by classes such as "c3"; null: all alike. */
  function colour(classes) {
    marks.forEach(({ anchor }, k) => {
      anchor.classList.remove(...COLOUR_CLASSES);
      if (classes) anchor.classList.add(classes[k]);
    });
  }

  function rename() {
    marks.forEach((mark, k) => {
      mark.text = shorten(label(k), LONG_LABEL);
      mark.anchor.querySelector("title").textContent = `${k} ${label(k)}`;
    });
    measure();
    show();
  }

  const unit = () => width / view.zoom / svg.clientWidth;
  listenToGestures(svg, view, { zoom, show, unit });
  figure.addEventListener("keydown", (event) => moveByKey(event, marks, { zoom, reset }));
  figure.append(zoomButtons());
  measure();
  new ResizeObserver(() => {
    stretch();
    show();
  }).observe(svg);
  return { emphasise, colour, rename };
}

/** A text of at most n letters, of whole words if possible. */
function shorten(text, n) {
  if (text.length <= n) return text;
  const cut = text.slice(0, n - 1);
  const space = cut.lastIndexOf(" ");
  const whole = text[n - 1] === " " ? cut : cut.slice(0, space);
  return `${(space > n / 4 ? whole : cut).replace(/[\s,…]+$/, "")}…`;
}
