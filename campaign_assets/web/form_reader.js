// The form model in one pass: plain data, no judgement of meaning (that is forms.py's).

const MOST_CONTROLS = 2000, MOST_OPTIONS = 400, TEXT = 60000;

function optionsOf(el) {
  if (el.tagName === "SELECT")
    return [...el.options].slice(0, MOST_OPTIONS).map((o) => ({
      value: o.value, label: tidy(o.label || o.text), selected: o.selected,
      disabled: o.disabled || !!(o.parentElement.tagName === "OPTGROUP" && o.parentElement.disabled),
    }));
  if (el.type === "radio")
    return groupMembers(el).slice(0, MOST_OPTIONS).map((o) => ({
      value: o.value, label: boxLabel(o), selected: o.checked, disabled: o.disabled,
    }));
  const list = el.list && el.getAttribute("list") ? [...el.list.options] : [];
  return list.slice(0, MOST_OPTIONS).map((o) => ({ value: o.value, label: tidy(o.label || o.value), selected: false, disabled: o.disabled }));
}

function boxLabel(el) {
  const { wrapping, pointing } = ownLabels(el);
  const label = pointing[0] || wrapping[0];
  return (label && textOf(label)) || tidy(el.getAttribute("aria-label")) || neighbouring(el, true) || el.value;
}

function buttonText(el) {
  if (el.tagName === "BUTTON") return tidy(el.innerText || el.textContent) || tidy(el.getAttribute("aria-label")) || tidy(el.title);
  if (/^(submit|button|reset)$/.test(el.type)) return tidy(el.value) || (el.type === "submit" ? "Submit" : "");
  return el.type === "image" ? tidy(el.alt) || "Submit" : "";
}

function readControl(el, index, forms, heading) {
  const owner = el.form ? forms.indexOf(el.form) : -1;
  const secret = el.type === "password" || el.type === "file";
  const text = buttonText(el);
  const hints = hintsOf(el, heading);
  if (text) hints.unshift(["text", text]);
  return {
    index, tag: el.tagName.toLowerCase(), type: el.type, name: el.name || "", id: el.id || "", form: owner < 0 ? null : owner,
    concealment: concealment(el), hints, disabled: el.matches(":disabled"), readonly: !!el.readOnly,
    required: !!el.required || el.getAttribute("aria-required") === "true", classes: tidy(String(el.className || "")),
    maxlength: el.maxLength > 0 ? el.maxLength : null, minlength: el.minLength > 0 ? el.minLength : null,
    pattern: el.pattern || null, options: optionsOf(el), value: secret ? "" : String(el.value || "").slice(0, 2000),
    checked: !!el.checked, accept: el.accept || "", autocomplete: el.getAttribute("autocomplete") || "", placeholder: el.placeholder || "",
  };
}

// Marks of things that only a person may do, each with the form it stands in.
const CAPTCHAS = [
  ["reCAPTCHA", ".g-recaptcha, iframe[src*='/recaptcha/'], script[src*='/recaptcha/'], [name='g-recaptcha-response']"],
  ["hCaptcha", ".h-captcha, iframe[src*='hcaptcha.com'], script[src*='hcaptcha.com'], [name='h-captcha-response']"],
  ["Turnstile", ".cf-turnstile, iframe[src*='challenges.cloudflare.com'], script[src*='challenges.cloudflare.com/turnstile'], [name='cf-turnstile-response']"],
  ["captcha widget", ".frc-captcha, altcha-widget, .mtcaptcha, [id^=FunCaptcha], .geetest_captcha, cap-widget, .smart-captcha, iframe[src*='arkoselabs.com'], iframe[src*='captcha']"],
  ["captcha image", "img[src*='captcha' i], img[id*='captcha' i], img[class*='captcha' i], img[alt*='captcha' i], img[src*='securimage' i], img[src*='seccode' i], canvas[id*='captcha' i]"],
  ["captcha question", "input[name*='captcha' i]:not([type=hidden]), input[id*='captcha' i]:not([type=hidden])"],
];
const PAYMENTS = "input[autocomplete^='cc-'], iframe[src*='js.stripe.com/v3/elements'], iframe[name^='__privateStripeFrame'], iframe[src*='braintree'], input[name*='cardnumber' i], input[name*='card_number' i]";

function marksOf(forms) {
  const marks = [];
  const add = (kind, what, el) => {
    const form = el.closest("form");
    marks.push({ kind, what, form: form && forms.includes(form) ? forms.indexOf(form) : null, script: el.tagName === "SCRIPT" });
  };
  for (const [what, selector] of CAPTCHAS) for (const el of [...document.querySelectorAll(selector)].slice(0, 10)) add("captcha", what, el);
  for (const el of [...document.querySelectorAll(PAYMENTS)].slice(0, 5)) add("payment", "card fields", el);
  forms.forEach((form, index) => {
    if (/paypal\.com|checkout\.stripe\.com|2checkout\.com/.test(form.getAttribute("action") || "")) marks.push({ kind: "payment", what: "payment service", form: index });
  });
  return marks;
}

function headingOf(form, headings) {
  const inside = form.querySelector("h1, h2, h3, h4, h5, h6, legend");
  if (inside && textOf(inside)) return textOf(inside);
  let last = "";
  for (const el of headings) if (el.compareDocumentPosition(form) & Node.DOCUMENT_POSITION_FOLLOWING) last = textOf(el) || last;
  return last || tidy(form.getAttribute("aria-label")) || tidy(form.getAttribute("name"));
}

// By attributes: a control named `method` or `action` hides the form's own property of that name.
function methodOf(form) {
  const method = (form.getAttribute("method") || "get").trim().toLowerCase();
  return /^(post|dialog)$/.test(method) ? method : "get";
}

function actionOf(form) {
  try {
    return new URL(form.getAttribute("action") || location.href, document.baseURI).href;
  } catch {
    return location.href;
  }
}

function readForms() {
  const forms = [...document.forms];
  const controls = [];
  let heading = "", headingForm = null;
  const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].slice(0, 500);
  let index = 0;
  for (const el of document.querySelectorAll(`h1, h2, h3, h4, h5, h6, ${CONTROLS}`)) {
    if (/^H[1-6]$/.test(el.tagName)) { heading = textOf(el); headingForm = el.closest("form"); continue; }
    if (controls.length >= MOST_CONTROLS) break;
    const near = !headingForm || headingForm === el.form ? heading : "";
    controls.push(readControl(el, index++, forms, near));
  }
  return {
    url: location.href, title: document.title || "", language: document.documentElement.lang || "",
    forms: forms.map((form, i) => ({
      index: i, action: actionOf(form),
      method: methodOf(form), heading: headingOf(form, headings),
      visible: !concealedByStyle(form),
    })),
    controls, marks: marksOf(forms), text: (document.body ? document.body.innerText || "" : "").slice(0, TEXT),
  };
}
