// What a person sees. Shared by everything that reads or touches a control, so that there is one judgement.

const CONTROLS = "input, select, textarea, button";

function controlByIndex(index) {
  return document.querySelectorAll(CONTROLS)[index] || null;
}

// The radio buttons that exclude each other; not by `form.elements`, which a control of that name would hide.
function groupMembers(el) {
  if (!el.name) return [el];
  return [...document.querySelectorAll("input[type=radio]")].filter((o) => o.name === el.name && o.form === el.form);
}

function parentOf(el) {
  return el.assignedSlot || el.parentElement || (el.getRootNode() instanceof ShadowRoot ? el.getRootNode().host : null);
}

const styleCache = new Map();
function styleOf(el) {
  let style = styleCache.get(el);
  if (!style) styleCache.set(el, (style = getComputedStyle(el)));
  return style;
}

// Concealment that an element has from itself or an ancestor; "" where there is none.
function concealedByStyle(el) {
  let opacity = 1;
  for (let node = el; node; node = parentOf(node)) {
    const style = styleOf(node);
    if (style.display === "none") return node === el ? "display: none" : "inside display: none";
    opacity *= parseFloat(style.opacity);
    if (opacity < 0.1) return "opacity: 0";
    if (/^rect\(0?(px|auto)?,? ?0?(px)?/.test(style.clip) && clipsAll(style.clip)) return "clipped away";
    if (/inset\((50|[6-9]\d|100)%|circle\(0/.test(style.clipPath)) return "clipped away";
  }
  const visibility = styleOf(el).visibility;
  if (visibility !== "visible") return "visibility: " + visibility;
  if (el.checkVisibility && !el.checkVisibility()) return "inside display: none";
  return "";
}

function clipsAll(clip) {
  const sides = (clip.match(/-?[\d.]+(?=px)|auto/g) || []).map(Number);
  return sides.length === 4 && (sides[1] - sides[3] <= 1 || sides[2] - sides[0] <= 1);
}

// The part of an element's box that ancestors do not cut off, in document coordinates.
function seenBox(el) {
  const rect = el.getBoundingClientRect();
  let box = { left: rect.left, top: rect.top, right: rect.right, bottom: rect.bottom };
  let position = styleOf(el).position;
  for (let node = parentOf(el); node && node !== document.body && node !== document.documentElement; node = parentOf(node)) {
    const style = styleOf(node);
    const contains = style.position !== "static" || style.transform !== "none";
    if (position === "fixed" && style.transform === "none") continue;
    if (position === "absolute" && !contains) continue;
    if (position === "absolute" || position === "fixed") position = style.position;
    const cutsX = style.overflowX !== "visible", cutsY = style.overflowY !== "visible";
    if (!cutsX && !cutsY) continue;
    const around = node.getBoundingClientRect();
    // What can be scrolled to can be seen, unless the window onto it has no size.
    const scrollsX = /auto|scroll/.test(style.overflowX) && around.width > 2;
    const scrollsY = /auto|scroll/.test(style.overflowY) && around.height > 2;
    if (cutsX && !scrollsX) { box.left = Math.max(box.left, around.left); box.right = Math.min(box.right, around.right); }
    if (cutsY && !scrollsY) { box.top = Math.max(box.top, around.top); box.bottom = Math.min(box.bottom, around.bottom); }
  }
  return {
    left: box.left + scrollX, right: box.right + scrollX, top: box.top + scrollY, bottom: box.bottom + scrollY,
    width: box.right - box.left, height: box.bottom - box.top, full: rect,
  };
}

function concealedByPlace(el) {
  const box = seenBox(el);
  if (box.full.width <= 2 || box.full.height <= 2) return "zero size";
  if (box.right <= 0 || box.bottom <= 0) return "off-screen";
  if (box.left >= Math.max(innerWidth, 1280) + 1000) return "off-screen";
  if (box.width <= 1 || box.height <= 1) return "clipped away";
  return "";
}

function concealedFromAll(el) {
  if (el.tabIndex >= 0 && el.getAttribute("tabindex") !== "-1") return "";
  return el.closest("[aria-hidden=true]") ? "aria-hidden with tabindex -1" : "";
}

function ownConcealment(el) {
  return concealedByStyle(el) || concealedByPlace(el) || concealedFromAll(el);
}

// A box or a file button is often drawn by its label while the control itself is hidden: then the label is what is seen.
function standIn(el) {
  if (el.tagName !== "INPUT" || !/^(checkbox|radio|file)$/.test(el.type)) return null;
  for (const label of el.labels || []) if (!concealedByStyle(label) && !concealedByPlace(label)) return label;
  return null;
}

// Why a person cannot see a control; "" where one can.
function concealment(el) {
  if (el.tagName === "INPUT" && el.type === "hidden") return "hidden input";
  const own = ownConcealment(el);
  return own && own !== "aria-hidden with tabindex -1" && standIn(el) ? "" : own;
}

function look(index) {
  const el = controlByIndex(index);
  if (!el) return { missing: true };
  return {
    tag: el.tagName.toLowerCase(), type: el.type, name: el.name, concealment: concealment(el), disabled: el.matches(":disabled"),
    readOnly: !!el.readOnly, checked: !!el.checked, value: el.value, standIn: !!(ownConcealment(el) && standIn(el)),
  };
}
