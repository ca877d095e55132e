"""The submission forms, composed of controls: what each kind of directory asks for.

`ask` gives a control for a profile's field with the name and type that real sites use; each form below is a tuple of
those with what makes it different. Labels come from `words`, by the site's language.
"""

from __future__ import annotations

from typing import Any

from campaign_assets.sandbox.parts import Button, Control, Form, Option

_TYPES = {
    "url": "url", "email": "email", "phone": "tel", "description": "textarea", "short_description": "textarea",
    "long_description": "textarea", "category": "select", "subcategory": "select", "logo": "file",
    "terms": "checkbox", "newsletter_optin": "checkbox", "csrf": "hidden", "reciprocal_url": "url",
}  # fmt: skip
_NAMES = {"contact_name": "your_name", "terms": "agree", "newsletter_optin": "newsletter", "csrf": "_token"}


def ask(field: str, **changes: Any) -> Control:
    """The usual control for `field`, with `changes`."""
    return Control(_NAMES.get(field, field), field, _TYPES.get(field, "text")).but(**changes)


def need(field: str, **changes: Any) -> Control:
    """The same, required."""
    return ask(field, required=True, **changes)


NAME = need("name", name="company_name", maxlength=100)
URL = need("url", name="website_url")
EMAIL = need("email", name="contact_email")
TEXT = need("description", maxlength=1000)
CATEGORY = need("category")
TERMS = need("terms")
BASIC = (NAME, URL, TEXT, CATEGORY, EMAIL)

PLAIN = Form((ask("csrf"), *BASIC, ask("tags", hint="up to five")))
WRAPPED = Form((NAME, URL, ask("tagline", maxlength=80), TEXT, EMAIL, TERMS), layout="wrapped")
TABLE = Form(
    (need("title", name="field1", maxlength=80), need("url", name="field2", type="text"),
     need("description", name="field3", maxlength=500), ask("phone", name="field4"), need("email", name="field5"),
     need("category", name="cat_id")),
    layout="table",
)  # fmt: skip
PLACEHOLDERS = Form((NAME, URL.but(placeholder="https://"), TEXT, EMAIL), layout="placeholder")
HEADINGS = Form(
    (NAME, URL, need("short_description", maxlength=200), ask("long_description"), EMAIL), layout="heading"
)
WRONG_FOR = Form(BASIC, layout="wrong-for")
LOCAL = Form(
    (
        NAME,
        ask("phone"),
        ask("address"),
        ask("city"),
        ask("postal_code"),
        ask("country"),
        URL,
        EMAIL,
        TEXT,
        CATEGORY,
    )
)
NAMES = Form(
    (NAME.but(name="organization"), URL, need("email", name="business_email", label="Business e-mail"), TEXT,
     need("first_name"), need("last_name"), ask("contact_name", label="Full name as shown to readers"),
     need("email", name="submitter_email", label="Submitter's e-mail (not published)")),
)  # fmt: skip

_PLANS = (
    Option("featured", "Featured listing ($49)", paid=True),
    Option("express", "Express review in 24 hours ($19)", paid=True),
    Option("free", "Regular listing (free, reviewed in turn)"),
)
PAID_OR_FREE = Form((need("link_type", name="plan", type="radio", options=_PLANS), *BASIC))
TWO_BUTTONS = Form(
    BASIC,
    buttons=(
        Button("Submit with express review ($29)", "go", "express", paid=True),
        Button("Submit for free", "go", "free"),
    ),
)
MANY_FORMS = Form((*BASIC, ask("newsletter_optin")), beside=("search", "login", "newsletter"))
BY_SCRIPT = Form(BASIC, made_by="script")
REVERTING = Form(BASIC, inputs="reverting")
SENTENCE = Form(BASIC, sends="sentence")
TOAST = Form(BASIC, sends="toast")
ALERT = Form(BASIC, sends="alert")

TRAP_DISPLAY = Form(
    (NAME, ask("honeypot", name="contact_me_by_fax", label="Fax", concealed="display"), *BASIC[1:])
)
TRAP_OFFSCREEN = Form(
    (NAME, ask("honeypot", name="website", label="Website", type="url", concealed="offscreen"),
     need("url", name="url"), *BASIC[2:]),
)  # fmt: skip
TRAP_CLASS = Form((ask("honeypot", name="email", label="E-mail", type="email", concealed="class"), *BASIC))
TRAP_CLIP = Form(
    (NAME, URL, ask("honeypot", name="phone_number", label="Phone", concealed="clip"),
     ask("honeypot", name="address2", label="Address line 2", concealed="size"), *BASIC[2:]),
)  # fmt: skip

CAPTCHA_WIDGET = Form(BASIC, captcha="widget")
CAPTCHA_IMAGE = Form(BASIC, captcha="image")
CAPTCHA_SUM = Form(BASIC, captcha="sum")

IN_WORDS = Form(
    (need("title", maxlength=255, hint="max 65 characters", most=65), URL,
     need("description", maxlength=5000, hint="Between 50 and 250 characters please", least=50, most=250),
     CATEGORY, EMAIL),
)  # fmt: skip
TOO_SHORT = Form((NAME, URL, need("description", least=20_000), CATEGORY, EMAIL))
TOO_LONG = Form((NAME, URL, need("description", most=30), CATEGORY, EMAIL))
UNANSWERABLE = Form(
    (*BASIC, Control("revenue", None, "select", "Annual recurring revenue", required=True, options=(
        Option("0", "Pre-revenue"), Option("1", "Up to $10k"), Option("2", "$10k to $100k"), Option("3", "More"))),
     Control("round", None, "text", "Last funding round and its lead investor", required=True)),
)  # fmt: skip
REQUIRED_RADIO = Form(
    (*BASIC, Control("heard", None, "radio", "How did you hear about us?", required=True, options=(
        Option("friend", "From a friend"), Option("conference", "At our conference"),
        Option("podcast", "From our podcast")))),
)  # fmt: skip
RECIPROCAL = Form(
    (*BASIC, need("reciprocal_url", name="backlink")),
    intro="A link back to this directory is required. Submissions without a reciprocal link are deleted.",
)
_EXTRA = tuple(
    control
    for number in range(2, 7)
    for control in (
        Control(f"title{number}", "ignore", "text", f"Deep link {number - 1}: title"),
        Control(f"url{number}", "ignore", "url", f"Deep link {number - 1}: URL"),
    )
)
DEEP_LINKS = Form(
    (need("title", name="title1", maxlength=80), need("url", name="url1"), TEXT, EMAIL, *_EXTRA)
)
COUNTERS = Form(
    (NAME, URL, need("short_description", maxlength=160, counter=True),
     need("long_description", maxlength=900, counter=True), CATEGORY, EMAIL),
)  # fmt: skip
CATEGORIES = Form((NAME, URL, TEXT, CATEGORY, need("subcategory"), EMAIL))
STYLED_TERMS = Form((*BASIC, need("terms", styled=True), ask("newsletter_optin", styled=True)))
PREFILLED = Form((NAME, need("url", type="text", value="http://"), TEXT, CATEGORY, EMAIL))
WITH_LOGO = Form((*BASIC, ask("logo"), ask("pricing", type="select", options=(
    Option("Free", "Free"), Option("Freemium", "Freemium"), Option("Paid", "Paid")))))  # fmt: skip
