// Every text that speaks about a control, with the place where it stands. Reads, never judges.

const BLOCKS = /^(address|article|aside|blockquote|center|dd|details|dialog|div|dl|dt|fieldset|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|table|tbody|td|tfoot|th|thead|tr|ul)$/;
const SKIP = /^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE|OPTION|SELECT|TEXTAREA|BUTTON|SVG)$/i;
const HINT = 300;

function tidy(text) {
  return (text || "").replace(/[\s\u00a0\u3000]+/g, " ").trim().slice(0, HINT);
}

function isControl(node) {
  return node.nodeType === 1 && node.matches(CONTROLS) && !(node.tagName === "INPUT" && node.type === "hidden");
}

// Text of an element without what its controls say; with the star that a stylesheet may add.
function textOf(el) {
  let text = "";
  const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, {
    acceptNode: (node) => (node.nodeType === 1 && (SKIP.test(node.tagName) || styleOf(node).display === "none")
      ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT),
  });
  for (let node = walker.nextNode(); node && text.length < 2 * HINT; node = walker.nextNode()) {
    if (node.nodeType === 3) text += node.data;
    else if (BLOCKS.test(node.tagName.toLowerCase()) || node.tagName === "BR") text += " ";
  }
  return tidy(text + drawnStar(el));
}

function drawnStar(el) {
  for (const node of [el, el.lastElementChild])
    for (const side of ["::before", "::after"])
      if (node && /[*＊✱]/.test(getComputedStyle(node, side).content)) return " *";
  return "";
}

function blockOf(node) {
  let el = node.nodeType === 1 ? node : node.parentElement;
  while (el && !BLOCKS.test(el.tagName.toLowerCase())) el = el.parentElement;
  return el;
}

function usable(node, el) {
  const parent = node.parentElement;
  if (!parent || !node.data.trim() || parent.closest("script, style, noscript, template, select, textarea, button, svg")) return false;
  const label = parent.closest("label");
  // A box's own label stands behind the box: it says nothing about the control that comes next.
  if (label && label.control && label.control !== el && /^(checkbox|radio)$/.test(label.control.type)) return false;
  return styleOf(parent).display !== "none" && styleOf(parent).visibility === "visible";
}

// The nearest text before (or behind) a control, up to the next control; only the text of one block.
function neighbouring(el, forward) {
  const root = el.form && Node.prototype.contains.call(el.form, el) ? el.form : document.body;
  if (!root || !root.contains(el)) return "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  walker.currentNode = el;
  let text = "", block = null, steps = 0;
  const step = () => (forward ? walker.nextNode() : walker.previousNode());
  for (let node = step(); node && steps < 400 && text.length < HINT; node = step(), steps++) {
    if (el.contains(node)) continue;
    if (isControl(node)) {
      // Between two controls of one line the text is the second one's; only a box has its text behind it.
      if (forward && text && blockOf(node) === block && !isBox(el)) text = "";
      break;
    }
    if (node.nodeType === 1) {
      if (text && node.tagName === "BR") break;
      continue;
    }
    if (!usable(node, el)) continue;
    if (forward && othersLabel(node, el)) break;
    if (block && blockOf(node) !== block) break;
    const own = blockOf(el);
    if (forward && !text && own && blockOf(node) !== own && !own.contains(node) && !nextTo(el, node)) break;
    block = blockOf(node);
    text = forward ? text + node.data : node.data + text;
  }
  return tidy(text);
}

function isBox(el) {
  return el.tagName === "INPUT" && /^(checkbox|radio)$/.test(el.type);
}

function othersLabel(node, el) {
  const label = node.parentElement.closest("label");
  return label && label.control && label.control !== el;
}

// Behind a control only what hangs together with it counts: the following block, if no other label begins there.
function nextTo(el, node) {
  const own = blockOf(el), other = blockOf(node);
  return own && other && own.parentElement === other.parentElement && !other.querySelector(CONTROLS) && !node.parentElement.closest("label");
}

function ownLabels(el) {
  const labels = [...(el.labels || [])];
  const wrapping = labels.filter((label) => label.contains(el));
  let pointing = labels.filter((label) => !label.contains(el));
  // Pages repeat a wrong `for` on every label: of several, the one that stands nearest before the control is meant.
  if (pointing.length > 1) {
    const before = pointing.filter((label) => label.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING);
    pointing = [before[before.length - 1] || pointing[0]];
  }
  return { wrapping, pointing };
}

function cellHints(el) {
  const cell = el.closest("td, th, dd");
  if (!cell) return [];
  if (cell.tagName === "DD") {
    let term = cell.previousElementSibling;
    while (term && term.tagName !== "DT") term = term.previousElementSibling;
    return term ? [textOf(term)] : [];
  }
  const row = cell.parentElement, found = [];
  for (let left = cell.previousElementSibling; left && !found.length; left = left.previousElementSibling) {
    if ([...left.querySelectorAll(CONTROLS)].some(isControl)) break;
    if (textOf(left)) found.push(textOf(left));
  }
  const table = row.closest("table"), column = [...row.children].indexOf(cell);
  for (let above = row.previousElementSibling; !found.length && above; above = above.previousElementSibling) {
    const head = above.children[column];
    if (head && !head.querySelector(CONTROLS) && textOf(head)) found.push(textOf(head));
    else break;
  }
  const head = table && table.tHead && table.tHead.rows[0] && table.tHead.rows[0].cells[column];
  if (head && !found.includes(textOf(head))) found.push(textOf(head));
  return found;
}

function referenced(el, attribute) {
  return (el.getAttribute(attribute) || "").split(/\s+/).filter(Boolean)
    .map((id) => document.getElementById(id)).filter(Boolean).map(textOf).join(" ");
}

function groupHints(el) {
  const hints = [];
  const fieldset = el.closest("fieldset");
  const legend = fieldset && fieldset.querySelector("legend");
  if (legend) hints.push(["legend", textOf(legend)]);
  const group = el.closest("[role=radiogroup], [role=group]");
  if (group && group !== fieldset) hints.push(["group", tidy(group.getAttribute("aria-label")) || referenced(group, "aria-labelledby")]);
  if (el.type === "radio") {
    const first = groupMembers(el)[0];
    if (first && el.name) hints.push(["group", neighbouring(first, false)], ...cellHints(first).map((text) => ["group", text]));
  }
  return hints;
}

function words(identifier) {
  return tidy(identifier.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/[^\p{L}\d]+/gu, " "));
}

// [place, text] pairs, best place first.
function hintsOf(el, heading) {
  const { wrapping, pointing } = ownLabels(el);
  const box = isBox(el);
  const before = neighbouring(el, false), after = neighbouring(el, true);
  const hints = [
    ...pointing.map((label) => ["for", textOf(label)]),
    ...wrapping.map((label) => ["wrap", textOf(label)]),
    ["labelledby", referenced(el, "aria-labelledby")],
    ["aria-label", tidy(el.getAttribute("aria-label"))],
    ...(box ? [["after", after]] : []),
    ...cellHints(el).map((text) => ["cell", text]),
    ["before", before],
    ["placeholder", tidy(el.placeholder)],
    ["title", tidy(el.title)],
    ...groupHints(el),
    ...(box ? [] : [["after", after]]),
    ["describedby", referenced(el, "aria-describedby")],
    ["heading", heading],
    ["autocomplete", tidy(el.getAttribute("autocomplete"))],
    ["name", words(el.name || "")],
    ["id", words(el.id || "")],
  ];
  const seen = new Set();
  return hints.filter(([place, text]) => text && !seen.has(place + text) && seen.add(place + text));
}
