// What the sandbox's pages do in a browser; each function is one behaviour of real sites, switched on by data attributes.
"use strict";

// The form does not exist until some time after load.
function buildForm(root) {
  setTimeout(() => {
    root.innerHTML = JSON.parse(document.getElementById("form-source").textContent);
    prepare(root.querySelector("form"));
  }, 400);
}

// A control keeps its own state, which only input events change; anything else is reverted.
function revert(form) {
  const state = new Map();
  for (const control of form.querySelectorAll("input, textarea, select")) {
    if (control.type === "hidden") continue;
    state.set(control, control.value);
    for (const kind of ["input", "change"]) control.addEventListener(kind, () => state.set(control, control.value));
  }
  const restore = () => state.forEach((value, control) => { if (control.value !== value) control.value = value; });
  setInterval(restore, 150);
  form.addEventListener("submit", restore, true);
}

// The form is sent by script, and success is told without navigation.
function sendByScript(form, tell) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const response = await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(form, event.submitter)),
      headers: { "X-Requested-With": "fetch" },
    });
    const answer = await response.json();
    if (response.ok) return tell(form, answer.message);
    const problems = form.querySelector(".problems") || form.insertBefore(document.createElement("div"), form.firstChild);
    problems.className = "problems";
    problems.textContent = answer.message;
  });
}

const tellers = {
  sentence(form, message) {
    const sentence = document.createElement("p");
    sentence.className = "message";
    sentence.textContent = message;
    form.replaceWith(sentence);
  },
  toast(form, message) {
    const toast = document.createElement("div");
    toast.className = "toast";
    toast.setAttribute("role", "status");
    toast.textContent = message;
    document.body.append(toast);
    form.reset();
    setTimeout(() => toast.remove(), 4000);
  },
  alert(form, message) {
    alert(message);
    form.reset();
  },
};

// Sub-categories exist only once a category is chosen.
function fillDependent(select) {
  const known = JSON.parse(document.getElementById("subcategories").textContent);
  const parent = select.form.elements[select.dataset.dependsOn];
  parent.addEventListener("change", () => {
    select.length = 1;
    for (const [value, text] of known[parent.value] || []) select.add(new Option(text, value));
  });
}

function count(counter) {
  const counted = document.getElementById(counter.dataset.counts);
  counted.addEventListener("input", () => { counter.value = counted.maxLength - counted.value.length; });
}

function prepare(form) {
  if (form.dataset.inputs === "reverting") revert(form);
  if (form.dataset.sends in tellers) sendByScript(form, tellers[form.dataset.sends]);
  form.querySelectorAll("[data-depends-on]").forEach(fillDependent);
  form.querySelectorAll("[data-counts]").forEach(count);
}

// Refusing stays in the browser; accepting tells the server, which counts it.
function askConsent(button) {
  button.addEventListener("click", () => {
    document.cookie = "consent=" + button.dataset.consent + "; path=/";
    document.querySelector(".consent-layer").remove();
    if (button.dataset.consent === "accept") fetch("/consent?choice=accept");
  });
}

document.querySelectorAll("form.submission").forEach(prepare);
document.querySelectorAll("[data-made-by=script]").forEach(buildForm);
document.querySelectorAll("[data-consent]").forEach(askConsent);
