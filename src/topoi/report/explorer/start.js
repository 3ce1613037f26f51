"use strict";
// Elements and numbers. Text goes into the page as text, never as markup.

/** Give an element attributes (`on...` are listeners; null and false are left out) and children. */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(2).filter((child) => child || child === 0));
  return element;
}

/** An HTML element. */
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** A part of 1 in percent, with a digit after the point if it is small. */
function percent(part) {
  if (part <= 0) return "0%";
  if (part < 0.0005) return "<0.1%";
  return part < 0.0995 ? `${(100 * part).toFixed(1)}%` : `${Math.round(100 * part)}%`;
}

/** A count with separators; those below 10 may have a digit after the point. */
function amount(number) {
  const digits = number < 9.95 && Math.abs(number - Math.round(number)) > 0.05 ? 1 : 0;
  return number.toLocaleString("en", { maximumFractionDigits: digits });
}

/** A function whose result is worked out when it is first asked for. */
function lazy(work) {
  let done = false;
  let result;
  return () => {
    if (!done) [result, done] = [work(), true];
    return result;
  };
}

/** What a function gives for each number from 0 to n - 1. */
function times(n, what) {
  return Array.from({ length: n }, (_, i) => what(i));
}
