// Small questions to a page: has it settled, what stands in its controls, what lies over it, where to click.

function settle() {
  const hasForm = () => [...document.querySelectorAll("input, textarea, select")].some((el) => el.type !== "hidden");
  return new Promise((resolve) => {
    const started = performance.now();
    let timer = null;
    const observer = new MutationObserver(() => wait());
    const end = () => { observer.disconnect(); clearTimeout(timer); resolve(true); };
    // A page without any control may still be about to draw its form: it is given longer.
    const wait = () => { clearTimeout(timer); timer = setTimeout(end, hasForm() ? 120 : 900); };
    observer.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
    setTimeout(end, 4000 - Math.min(performance.now() - started, 3000));
    wait();
  });
}

function radioByValue({ index, value }) {
  const el = controlByIndex(index);
  if (!el || el.type !== "radio") return null;
  return el.value === value ? el : groupMembers(el).find((o) => o.value === value) || null;
}

function presentValues(indexes) {
  return indexes.map((index) => {
    const el = controlByIndex(index);
    if (!el) return null;
    const group = el.type === "radio" ? groupMembers(el) : [];
    const picked = group.find((o) => o.checked);
    return {
      type: el.type, value: String(el.value), checked: !!el.checked, picked: picked ? picked.value : null,
      picks: el.tagName === "SELECT" ? [...el.selectedOptions].map((o) => [o.value, o.label.trim()]) : [],
      files: el.files ? [...el.files].map((f) => f.name) : [],
    };
  });
}

function covers(el) {
  if (concealedByStyle(el)) return false;
  const rect = el.getBoundingClientRect();
  return rect.width > 100 && rect.height > 30 && rect.bottom > 0 && rect.top < innerHeight && rect.right > 0 && rect.left < innerWidth;
}

function overlays() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT);
  for (let el = walker.nextNode(), n = 0; el && n < 20000; el = walker.nextNode(), n++) {
    const style = styleOf(el);
    const modal = el.tagName === "DIALOG" ? el.open : el.matches("[role=dialog], [role=alertdialog], [aria-modal=true]");
    if (!modal && style.position !== "fixed" && style.position !== "sticky" && !(style.position === "absolute" && parseInt(style.zIndex) > 0)) continue;
    // A header that stays in place is no overlay; a dialog, a banner with cookie words, or what takes most of the view is.
    if (covers(el)) found.push(el);
  }
  return found.filter((el) => !found.some((outer) => outer !== el && outer.contains(el)));
}

function pressable(root) {
  const all = [...root.querySelectorAll("button, a, input[type=button], input[type=submit], [role=button], [tabindex], [class*=close i], summary, span[onclick], div[onclick]")];
  return all.filter((el) => !concealedByStyle(el) && !concealedByPlace(el));
}

function labelOf(el) {
  return [el.innerText, el.value, el.getAttribute("aria-label"), el.title].map((t) => (typeof t === "string" ? t.replace(/\s+/g, " ").trim() : ""));
}

function findOverlayButton({ refuse, close, cookie, tried }) {
  const refuses = new RegExp(refuse, "iu"), closes = new RegExp(close, "iu"), aboutCookies = new RegExp(cookie, "iu");
  for (const overlay of overlays()) {
    const text = (overlay.innerText || "").slice(0, 5000);
    const rect = overlay.getBoundingClientRect();
    const modal = overlay.matches("dialog, [role=dialog], [role=alertdialog], [aria-modal=true]") || overlay.querySelector("[role=dialog], [aria-modal=true], dialog[open]");
    const large = rect.width * rect.height > 0.5 * innerWidth * innerHeight;
    if (!modal && !large && !aboutCookies.test(text)) continue;
    const fields = [...overlay.querySelectorAll("input, textarea, select")].filter((el) => !concealment(el) && !/^(checkbox|radio|button|submit)$/.test(el.type));
    if (fields.length > 2) continue; // a form in a layer is the page's work, not in its way
    const buttons = pressable(overlay).filter((el) => !tried.includes(labelOf(el).join("|")));
    for (const words of [refuses, closes])
      for (const el of buttons) {
        const label = labelOf(el).find((t) => t && t.length < 60 && words.test(t));
        const leaves = el.tagName === "A" && el.href && !/#|^javascript:/.test(el.getAttribute("href") || "#");
        if (!label || leaves) continue;
        const at = el.getBoundingClientRect();
        const x = at.left + at.width / 2, y = at.top + at.height / 2;
        const hit = document.elementFromPoint(x, y);
        if (hit && (hit === el || el.contains(hit) || hit.contains(el))) return { x, y, label, mark: labelOf(el).join("|") };
      }
  }
  return null;
}

function describe(el) {
  const id = el.id ? "#" + el.id : "", name = el.className && typeof el.className === "string" ? "." + el.className.trim().split(/\s+/)[0] : "";
  return el.tagName.toLowerCase() + id + (name === "." ? "" : name);
}

function target(index) {
  const el = controlByIndex(index);
  if (!el) return { problem: "it is no longer in the page" };
  const why = concealment(el);
  if (why) return { problem: "a person cannot see it (" + why + ")" };
  if (el.matches(":disabled") || el.getAttribute("aria-disabled") === "true") return { problem: "it is disabled" };
  el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const rect = el.getBoundingClientRect();
  for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5]]) {
    const x = rect.left + rect.width * fx, y = rect.top + rect.height * fy;
    const hit = document.elementFromPoint(x, y);
    if (hit && (hit === el || el.contains(hit))) return { x, y };
    if (fx === 0.75) return { problem: hit ? "it is covered by " + describe(hit) : "it cannot be scrolled into view" };
  }
}
