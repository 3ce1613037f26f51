// Wheel, double click, drag, pinch and keys on the map.

/** Zoom by the wheel with Ctrl, by a double click or with two fingers; drag a zoomed map. */
function listenToGestures(svg, view, { zoom, show, unit }) {
  const fingers = new Map();
  let moved = 0;
  const pointAt = (event) => {
    const box = svg.getBoundingClientRect();
    return [
      view.x + (event.clientX - box.left) * unit(),
      view.y + (event.clientY - box.top) * unit(),
    ];
  };
  const apart = () => {
    const [a, b] = fingers.values();
    return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  };
  const onWheel = (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 300), ...pointAt(event));
  };
  svg.addEventListener("wheel", onWheel, { passive: false });
  svg.addEventListener("dblclick", (event) => zoom(2, ...pointAt(event)));
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
