// The map: zoom, labels that never cover each other, colours, the keyboard.

const LETTERS = 12; // pixels, at any zoom
const MOST_ZOOM = 40;

function makeMap(figure) {
  const svg = figure.querySelector("svg");
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const view = { x: 0, y: 0, zoom: 1 };
  const marks = topics.map((_, k) => {
    const anchor = document.getElementById(`circle-${k}`);
    const circle = anchor.querySelector("circle");
    const [id, name] = anchor.querySelectorAll("text");
    const [x, y, r] = ["cx", "cy", "r"].map((key) => Number(circle.getAttribute(key)));
    return { anchor, circle, id, name, x, y, r, letters: 0 };
  });
  let pending = 0;

  /** Widths of labels, in units of the size of their letters. */
  function measure() {
    const size = Number(svg.getAttribute("font-size"));
    for (const mark of marks) {
      mark.name.classList.remove("more"); // what is hidden has no width
      mark.letters = mark.name.getComputedTextLength() / size;
    }
  }

  /** Show the labels that have room: those of large topics first. */
  function place() {
    pending = 0;
    const scale = (svg.clientWidth / width) * view.zoom;
    svg.setAttribute("font-size", LETTERS / scale);
    const boxes = marks.map(({ x, y, r }) => [x - r, y - r, x + r, y + r].map((at) => at * scale));
    const taken = [];
    const clear = (box, k) =>
      !taken.some((other) => overlap(box, other)) &&
      !boxes.some((other, j) => j !== k && overlap(box, other));
    for (const k of [...bySize].sort((a, b) => (b === chosen()) - (a === chosen()))) {
      const { id, name, x, letters } = marks[k];
      const [, , , below] = boxes[k];
      const half = (letters * LETTERS) / 2 + 2;
      const box = [x * scale - half, below, x * scale + half, below + 1.3 * LETTERS];
      const shown = clear(box, k);
      if (shown) taken.push(box);
      name.classList.toggle("more", !shown);
      id.classList.toggle("tiny", marks[k].r * scale < 0.3 * LETTERS * (String(k).length + 1));
    }
  }

  function overlap(a, b) {
    return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  }

  function chosen() {
    return state.kind === "topic" ? state.value : -1;
  }

  function show() {
    const [w, h_] = [width / view.zoom, height / view.zoom];
    view.x = Math.min(Math.max(view.x, 0), width - w);
    view.y = Math.min(Math.max(view.y, 0), height - h_);
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${w} ${h_}`);
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

  function pointAt(event) {
    const box = svg.getBoundingClientRect();
    const unit = width / view.zoom / box.width;
    return [view.x + (event.clientX - box.left) * unit, view.y + (event.clientY - box.top) * unit];
  }

  svg.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 300), ...pointAt(event));
    },
    { passive: false },
  );
  svg.addEventListener("dblclick", (event) => zoom(2, ...pointAt(event)));
  dragAndPinch(svg, view, { zoom, show, pointAt, unit: () => width / view.zoom / svg.clientWidth });
  figure.addEventListener("keydown", (event) => moveByKey(event, marks, { zoom, reset }));

  function reset() {
    Object.assign(view, { x: 0, y: 0, zoom: 1 });
    show();
  }

  const button = (text, name, act) =>
    h("button", { type: "button", title: name, "aria-label": name, onclick: act }, text);
  figure.append(
    h(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      button("+", "Zoom in (also Ctrl and wheel)", () => zoom(1.6)),
      button("−", "Zoom out", () => zoom(1 / 1.6)),
      button("⤢", "Show the whole map", reset),
    ),
  );
  new ResizeObserver(() => show()).observe(svg);
  measure();

  return {
    /** Emphasise topics by weights from 0 to 1 (null: all alike), and mark the selected one. */
    emphasise(weights, selected) {
      marks.forEach(({ anchor, circle }, k) => {
        anchor.classList.toggle("selected", k === selected);
        anchor.tabIndex = k === (selected ?? bySize[0]) ? 0 : -1;
        anchor.setAttribute("aria-current", k === selected);
        circle.style.opacity = weights ? 0.12 + 0.88 * Math.sqrt(weights[k]) : "";
      });
      show();
    },
    /** Colour topics by classes such as "c3". */
    colour(classes) {
      marks.forEach(({ anchor }, k) => anchor.setAttribute("class", classes?.[k] ?? ""));
    },
    rename() {
      marks.forEach(({ anchor, name }, k) => {
        name.textContent = shorten(label(k), 24);
        anchor.querySelector("title").textContent = `${k} ${label(k)}`;
      });
      measure();
      show();
    },
    view,
    zoom,
  };
}

function shorten(text, n) {
  return text.length <= n ? text : `${text.slice(0, n - 1).trimEnd()}…`;
}

/** Drag the map, or pinch it with two fingers. */
function dragAndPinch(svg, view, { zoom, show, pointAt, unit }) {
  const fingers = new Map();
  let moved = 0;
  const apart = () => {
    const [a, b] = fingers.values();
    return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  };
  svg.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event);
    moved = 0;
  });
  svg.addEventListener("pointermove", (event) => {
    const last = fingers.get(event.pointerId);
    if (!last) return;
    const before = fingers.size === 2 ? apart() : 0;
    fingers.set(event.pointerId, event);
    moved += Math.abs(event.clientX - last.clientX) + Math.abs(event.clientY - last.clientY);
    if (fingers.size === 2) zoom(apart() / before, ...pointAt(event));
    else if (view.zoom > 1) {
      view.x -= (event.clientX - last.clientX) * unit();
      view.y -= (event.clientY - last.clientY) * unit();
      show();
    }
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
    svg.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("click", (event) => moved > 6 && event.preventDefault(), true);
}

/** Arrows go to the nearest circle in their direction; + and - zoom, 0 shows all. */
function moveByKey(event, marks, { zoom, reset }) {
  const way = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
  }[event.key];
  if (event.key === "+" || event.key === "=") zoom(1.6);
  else if (event.key === "-") zoom(1 / 1.6);
  else if (event.key === "0") reset();
  else if (way) {
    const here = marks.find(({ anchor }) => anchor === document.activeElement);
    if (!here) return;
    const cost = ({ x, y }) => {
      const along = (x - here.x) * way[0] + (y - here.y) * way[1];
      const aside = Math.abs((x - here.x) * way[1]) + Math.abs((y - here.y) * way[0]);
      return along > 0 ? along + 2 * aside : Infinity;
    };
    const best = marks.reduce((a, b) => (cost(b) < cost(a) ? b : a));
    if (cost(best) < Infinity) best.anchor.focus();
  } else return;
  event.preventDefault();
}
