"""A careful person who fills a sandbox form by its answer key: what a right submission looks like, for tests."""

from __future__ import annotations

import re

from campaign_assets.sandbox.parts import Control, Form, Site, slug
from campaign_assets_tests.sandbox_fixture import Answer, Sandbox

TARGET = "tallyhopper.example"
_TEXT = (
    "Tallyhopper counts what small shops sell and shows it on one page, every morning, without any set-up."
)
VALUES = {
    "name": "Tallyhopper",
    "title": "Tallyhopper",
    "url": f"https://{TARGET}/",
    "email": "hello@tallyhopper.example",
    "contact_name": "Ada Miller",
    "first_name": "Ada",
    "last_name": "Miller",
    "phone": "+1 555 0100",
    "address": "1 Mill Lane",
    "city": "Springfield",
    "postal_code": "12345",
    "country": "US",
    "description": _TEXT,
    "short_description": _TEXT[:150],
    "long_description": _TEXT,
    "tagline": "Sales on one page",
    "tags": "analytics, shops",
    "terms": "1",
    "pricing": "Free",
}


def answers(site: Site, token: str = "") -> dict[str, str]:
    """The fields that a careful person sends: nothing into traps, the free option, no invention."""
    sent = {control.name: _answer(site, control) for control in site.form.controls}
    sent.update({control.name: token for control in site.form.controls if control.field == "csrf"})
    sent.update(
        {button.name: button.value for button in site.form.buttons if button.name and not button.paid}
    )
    return sent


def submit(sandbox: Sandbox, site: Site, target: str = TARGET, **changes: str) -> Answer:
    """Open the site's form page and post it once, for the business at `target`."""
    page = sandbox.get(f"www.{site.host}", site.submit_path)
    assert page.status == 200, page
    token = re.search(r'name="_token" value="(\d+)"', page.text)
    address = site.form.control("url")
    assert address is not None, site
    fields = {**answers(site, token.group(1) if token else ""), address.name: f"https://{target}/", **changes}
    return sandbox.post(f"www.{site.host}", site.submit_path, fields, _by_script(site.form))


def _answer(site: Site, control: Control) -> str:
    if control.field == "category":
        return slug(site.theme.categories[0])
    if control.field == "subcategory":
        return slug(f"{site.theme.categories[0]} for teams")
    if control.field == "link_type":
        return next(option.value for option in control.options if not option.paid)
    return VALUES.get(control.field or "", "")


def _by_script(form: Form) -> dict[str, str]:
    return {} if form.sends == "navigation" else {"X-Requested-With": "fetch"}
