# ruff: noqa: E501 (a case of a table, or a page's markup, is one line)
"""The form model of real documents in a real browser: sight, labels, owners, requirements, obstacles."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from campaign_assets.model import Control, FormDocument
from campaign_assets_tests.web_desk import Desk


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("home"))
    yield desk
    desk.close()


def _named(document: FormDocument, name: str) -> Control:
    return next(control for control in document.controls if control.name == name)


HONEYPOTS = {
    "display": '<div style="display:none"><input name=display></div>',
    "visibility": '<p style="visibility:hidden"><input name=visibility></p>',
    "size": '<input name=size style="width:0;height:0;border:0;padding:0">',
    "one_pixel": '<input name=one_pixel style="width:1px;height:1px;border:0;padding:0">',
    "left": '<div style="position:absolute;left:-5000px"><input name=left></div>',
    "right": '<input name=right style="position:absolute;left:9999px">',
    "above": '<input name=above style="position:fixed;top:-200px">',
    "opacity": '<div style="opacity:0"><span><input name=opacity></span></div>',
    "little_opacity": '<div style="opacity:.3"><span style="opacity:.2"><input name=little_opacity></span></div>',
    "clip": '<input name=clip style="position:absolute;clip:rect(0,0,0,0)">',
    "clip_path": '<div style="clip-path:inset(50%)"><input name=clip_path></div>',
    "overflow": '<div style="height:0;overflow:hidden"><input name=overflow></div>',
    "narrow": '<div style="width:1px;height:1px;overflow:hidden;position:absolute"><input name=narrow></div>',
    "scaled": '<div style="transform:scale(0)"><input name=scaled></div>',
    "moved": '<div style="transform:translateX(-3000px)"><input name=moved></div>',
    "aria": "<div aria-hidden=true><input name=aria tabindex=-1></div>",
    "by_class": '<div class="ohnohoney"><input name=by_class></div>',
    "attribute": "<div hidden><input name=attribute></div>",
    "details": "<details><summary>more</summary><input name=details></details>",
    "box": '<div style="display:none"><label><input type=checkbox name=box> I am a robot</label></div>',
    "indent": '<div style="text-indent:-9999px;overflow:hidden;height:1px"><input name=indent></div>',
}


def test_a_honeypot_is_invisible_in_every_concealment(desk: Desk) -> None:
    style = "<style>.ohnohoney{position:absolute;top:0;left:0;height:0;width:0;z-index:-1;opacity:0}</style>"
    document = desk.read(f"{style}<form>{''.join(HONEYPOTS.values())}<input name=real></form>")
    assert {c.name: c.concealment for c in document.controls if c.visible} == {"real": ""}
    assert all(_named(document, name).concealment for name in HONEYPOTS)


def test_what_a_person_sees_is_visible(desk: Desk) -> None:
    seen = {
        "far_down": '<div style="height:5000px"></div><input name=far_down>',
        "scrolled": '<div style="height:60px;overflow:auto"><div style="height:900px"></div><input name=scrolled></div>',
        "styled_box": "<style>.s input{position:absolute;opacity:0;width:0;height:0}</style><label class=s><input type=checkbox name=styled_box><b>I accept</b></label>",
        "styled_file": '<input type=file id=f name=styled_file style="display:none"><label for=f style="border:1px solid">Choose a logo</label>',
        "styled_radio": '<input type=radio id=r name=styled_radio style="clip:rect(0 0 0 0);position:absolute"><label for=r>Free</label>',
        "floating": '<div style="position:relative;overflow:hidden"><div style="position:absolute;left:5px"><input name=floating></div><br><br><br></div>',
        "fixed": '<div style="overflow:hidden;height:0"><input name=fixed style="position:fixed;bottom:10px;left:10px"></div>',
        "faint": '<input name=faint style="opacity:.5">',
        "untabbed": "<input name=untabbed tabindex=-1>",
    }
    document = desk.read(f"<form>{''.join(seen.values())}</form>")
    assert {c.name: c.concealment for c in document.controls} == dict.fromkeys(seen, "")


LABELS = {
    "for": ("<label for=a>Site title</label><div><input id=a name=for></div>", "Site title"),
    "wrap": ("<label>Site address <input name=wrap></label>", "Site address"),
    "aria_label": ('<input name=aria_label aria-label="Your e-mail">', "Your e-mail"),
    "labelledby": (
        "<span id=l1>Business</span> <span id=l2>phone</span><br><br><input name=labelledby aria-labelledby='l1 l2'>",
        "Business phone",
    ),
    "cell": ("<table><tr><td>Company</td><td>:</td><td><input name=cell></td></tr></table>", ":"),
    "cell_row": (
        "<table><tr><th>Company name</th><td><input name=cell_row></td></tr></table>",
        "Company name",
    ),
    "column": (
        "<table><tr><th>Link</th><th>Text</th></tr><tr><td><input name=column0></td><td><input name=column></td></tr></table>",
        "Text",
    ),
    "preceding": ("<p>Short description</p><textarea name=preceding></textarea>", "Short description"),
    "bare_text": ("Keywords: <input name=bare_text>", "Keywords:"),
    "heading": ("<h4>Postal code</h4><div><input name=heading></div>", "Postal code"),
    "placeholder": ("<div><hr></div><div><input name=placeholder placeholder='City'></div>", "City"),
    "title": ("<div><hr></div><div><input name=title title='Street'></div>", "Street"),
    "dangling": (
        "<div><label for=nothing>Contact person</label><input name=dangling></div>",
        "Contact person",
    ),
    "definition": ("<dl><dt>Fax</dt><dd><input name=definition></dd></dl>", "Fax"),
    "companyName": ("<div><hr></div><div><input name=companyName></div>", "company Name"),
}


@pytest.fixture(scope="module")
def labelled(desk: Desk) -> dict[str, Control]:
    """Each in a form of its own, so that none is the other's neighbour."""
    document = desk.read("".join(f"<form><button>x</button>{markup}</form>" for markup, _ in LABELS.values()))
    return {control.name: control for control in document.controls}


@pytest.mark.parametrize("name", sorted(set(LABELS) - {"cell"}))
def test_a_label_is_found_where_it_stands(labelled: dict[str, Control], name: str) -> None:
    assert labelled[name].label == LABELS[name][1], labelled[name].hints


def test_every_text_that_speaks_about_a_control_is_kept_with_its_place(desk: Desk) -> None:
    document = desk.read(
        "<form><fieldset><legend>Your site</legend><label for=t>Title</label><input id=t name=siteTitle placeholder=Acme title=Name"
        " aria-describedby=d autocomplete=organization><small id=d>max 60 characters</small></fieldset></form>"
    )
    hints = (
        dict(document.controls[0].hints)
        if document.controls[0].tag == "input"
        else dict(_named(document, "siteTitle").hints)
    )
    assert {
        "for": "Title",
        "legend": "Your site",
        "placeholder": "Acme",
        "title": "Name",
        "describedby": "max 60 characters",
    }.items() <= hints.items()
    assert hints["name"] == "site Title"
    assert _named(document, "siteTitle").limit == 60


def test_of_several_labels_for_one_id_the_nearest_counts(desk: Desk) -> None:
    document = desk.read(
        "<form><p><label for=x>Name</label><input name=a id=x></p><p><label for=x>Address</label><input name=b></p>"
        "<p><label for=x>Phone</label><input name=c></p></form>"
    )
    assert [c.label for c in document.controls] == ["Name", "Address", "Phone"]


def test_a_boxs_label_is_not_the_next_controls(desk: Desk) -> None:
    document = desk.read(
        "<form><input type=checkbox id=k name=terms><label for=k>I accept</label><div><input name=company></div></form>"
    )
    assert [c.label for c in document.controls] == ["I accept", "company"]


def test_the_owner_is_the_elements_form_and_indices_count_the_whole_document(desk: Desk) -> None:
    document = desk.read(
        "<input name=loose><form id=one><input name=a></form><form id=two action=/go method=POST><input name=method><input type=hidden name=action></form>"
        "<input name=far form=two><table><form id=three><tr><td><input name=in_table></td></tr></form></table><button form=one>Go</button>"
    )
    assert [(c.index, c.name, c.form) for c in document.controls] == [
        (0, "loose", None), (1, "a", 0), (2, "method", 1), (3, "action", 1), (4, "far", 1), (5, "in_table", 2), (6, "", 0),
    ]  # fmt: skip
    assert (document.forms[1].method, document.forms[1].action.endswith("/go")) == ("post", True)


def test_requirements_come_from_attribute_aria_class_star_and_words(desk: Desk) -> None:
    document = desk.read(
        "<style>.must::after{content:' *'}</style><p>Fields marked with * are required</p><form>"
        "<input name=no_1><label>A <input name=attribute required></label><input name=aria aria-required=true><input name=klass class='form-control required'>"
        "<p><label for=s>Title <span>*</span></label><input id=s name=star></p><p><label class=must for=d>Drawn</label><input id=d name=drawn></p>"
        "<p>Name (required)</p><input name=words><p>Fax (optional)</p><input name=no_2><p>名前＊</p><input name=wide>"
        "<p>Plan *</p><label><input type=radio name=plan value=f>Free</label><label><input type=radio name=plan value=p required>Paid</label></form>"
    )
    assert {c.name for c in document.controls if c.required} == {
        "attribute",
        "aria",
        "klass",
        "star",
        "drawn",
        "words",
        "wide",
        "plan",
    }


def test_limits_come_from_attribute_and_words_whichever_is_smaller(desk: Desk) -> None:
    document = desk.read(
        "<form><label>Title <input name=a maxlength=100></label> <small>max 65 characters</small><br>"
        '<label>B <input name=b maxlength=""></label><br><label>C (50-300 characters)<textarea name=c maxlength=500></textarea></label>'
        "<br><label>D <input name=d maxlength=20></label></form>"
    )
    assert {c.name: (c.limit, c.minimum) for c in document.controls} == {
        "a": (65, None),
        "b": (None, None),
        "c": (300, 50),
        "d": (20, None),
    }


def test_options_and_radio_groups_are_read(desk: Desk) -> None:
    document = desk.read(
        "<form><select name=cat><option value=''>Choose<option value=1 selected>Tools<option value=2 disabled>Games</select>"
        "<fieldset><legend>Listing</legend><label><input type=radio name=plan value=paid>Paid $10</label>"
        "<label><input type=radio name=plan value=free checked>Free</label></fieldset></form>"
    )
    cat, paid, free = document.controls
    assert [(o.value, o.label, o.selected, o.disabled) for o in cat.options] == [
        ("", "Choose", False, False), ("1", "Tools", True, False), ("2", "Games", False, True),
    ]  # fmt: skip
    assert cat.type == "select-one"
    assert [(o.value, o.label) for o in paid.options] == [("paid", "Paid $10"), ("free", "Free")]
    assert (paid.label, paid.checked, free.label, free.checked) == ("Paid $10", False, "Free", True)
    assert ("legend", "Listing") in free.hints


OBSTACLES = [
    ("<div class=g-recaptcha data-sitekey=x></div>", "captcha", "reCAPTCHA"),
    ("<div class=h-captcha></div>", "captcha", "hCaptcha"),
    ("<div class=cf-turnstile></div>", "captcha", "Turnstile"),
    ("<img src=/captcha.php><input name=code>", "captcha", "captcha image"),
    ("<label>What is 3 + 4? <input name=q></label>", "captcha", "arithmetic question"),
    ("<label>Enter the characters you see <input name=q></label>", "captcha", "captcha question"),
    ("<label>Sicherheitsabfrage <input name=q></label>", "captcha", "captcha question"),
    ("<input name=card autocomplete=cc-number>", "payment_required", "card fields"),
]


@pytest.mark.parametrize(("markup", "reason", "what"), OBSTACLES)
def test_an_obstacle_is_named_with_the_form_it_stands_in(
    desk: Desk, markup: str, reason: str, what: str
) -> None:
    document = desk.read(
        f"<form><input name=q0><button>Search</button></form><form><label>Title <input name=t></label><label>URL <input name=u></label>{markup}<button>Send</button></form>"
    )
    assert document.obstacles == (reason,)
    assert document.forms[0].obstacles == ()
    assert any(r == reason and w.startswith(what) for r, w in document.forms[1].obstacles), document.forms[
        1
    ].obstacles


def test_login_payment_and_closed_are_told_from_an_open_form(desk: Desk) -> None:
    login = "<form><label>E-mail <input name=e></label><label>Password <input type=password name=p></label><button>Log in</button></form>"
    entry = (
        "<form><label>Title <input name=t></label><label>URL <input name=u></label><button>{}</button></form>"
    )
    assert desk.read(login).obstacles == ("login_required",)
    assert desk.read("<p>You must be logged in to submit a site.").obstacles == ("login_required",)
    assert desk.read(login + entry.format("Submit")).obstacles == ()
    assert desk.read(entry.format("Pay $29 and submit")).obstacles == ("payment_required",)
    assert desk.read("<p>Submissions are currently closed.").obstacles == ("closed",)
    assert desk.read("<p>Submissions are currently closed.</p>" + entry.format("Send")).obstacles == ()


def test_the_same_form_has_the_same_fingerprint_and_a_changed_one_another(desk: Desk) -> None:
    form = "<form><input name=a value={}><input type=hidden name=token value={}></form>"
    one, two = desk.read(form.format("x", 1)), desk.read(form.format("y", 2))
    other = desk.read("<form><input name=a><input name=b></form>")
    assert one.fingerprint(0) == two.fingerprint(0) != other.fingerprint(0)


@pytest.mark.parametrize(
    "markup",
    ["", "<form><form><input></form>", "<input name='\x01\U0001f600'>", "<select><optgroup><option>", "<form><input name=elements><input name=closest><input name=innerText></form>",
     "<table><input>", "<frameset><frame>", "<svg><foreignObject><input></foreignObject></svg>", "<form action='http://[bad'><input>", "<textarea><input>"],
)  # fmt: skip
def test_malformed_markup_is_read_without_an_error(desk: Desk, markup: str) -> None:
    assert desk.read(markup).url.startswith("http")


def test_three_thousand_controls_are_read_up_to_a_bound(desk: Desk) -> None:
    document = desk.read("<form>" + "<input>" * 3000 + "</form>")
    assert len(document.controls) == 2000
