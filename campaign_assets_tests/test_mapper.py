"""The mapper over hand-made documents: which control is which, and the rules that never break."""

from __future__ import annotations

from typing import Any

import pytest

from campaign_assets.model import Action, Control, Form, FormDocument, MappedControl, Option, Reason
from campaign_assets.stages.form_mapping import map_document
from campaign_assets_tests.filing_road import business

LABELS = {
    "en": {
        "Company name": "name", "Website URL": "url",
        "Tell us about your company": "description", "Category": "category",
        "Your e-mail": "email", "Zip / Postal code": "postal_code",
        "Keywords (comma separated)": "tags", "Tagline": "tagline",
    },
    "de": {
        "Firmenname": "name", "Webseite": "url", "Beschreibung": "description",
        "Rubrik": "category", "Ansprechpartner": "contact_name", "E-Mail-Adresse": "email",
        "PLZ": "postal_code", "Schlagwörter": "tags", "Straße und Hausnummer": "address",
    },
    "fr": {
        "Nom de l'entreprise": "name", "Site internet": "url", "Description": "description",
        "Catégorie": "category", "Prénom": "first_name", "Nom de famille": "last_name",
        "Adresse e-mail": "email", "Code postal": "postal_code",
    },
    "es": {
        "Nombre de la empresa": "name", "Sitio web": "url", "Descripción": "description",
        "Categoría": "category", "Correo electrónico": "email", "Teléfono": "phone",
        "Ciudad": "city", "Etiquetas": "tags",
    },
    "it": {
        "Ragione sociale": "name", "Sito web": "url", "Descrizione": "description",
        "Categoria": "category", "Cognome": "last_name",
    },
    "pt": {
        "Nome da empresa": "name", "Endereço do site": "url", "Descrição": "description",
        "Palavras-chave": "tags",
    },
    "nl": {
        "Bedrijfsnaam": "name", "Webadres": "url", "Omschrijving": "description",
        "Trefwoorden": "tags", "Postcode": "postal_code",
    },
    "pl": {
        "Nazwa firmy": "name", "Strona WWW": "url", "Opis": "description",
        "Słowa kluczowe": "tags", "Kod pocztowy": "postal_code",
    },
    "tr": {
        "Firma adı": "name", "Web sitesi": "url", "Açıklama": "description",
        "Kategori": "category", "E-posta": "email",
    },
    "ja": {
        "会社名": "name", "ＵＲＬ": "url", "紹介文": "description", "カテゴリー": "category",
        "担当者名": "contact_name", "メールアドレス": "email", "郵便番号": "postal_code",
    },
    "zh": {
        "公司名称": "name", "网址": "url", "简介": "description", "分类": "category",
        "联系人": "contact_name", "邮箱": "email",
    },
    "ru": {
        "Название компании": "name", "Адрес сайта": "url", "Описание": "description",
        "Категория": "category", "Телефон": "phone",
    },
}  # fmt: skip
"""What labels say, with the field they ask for, by language."""

_TAGS: dict[str, Any] = {
    "textarea": "textarea",
    "select-one": "select",
    "submit": "button",
    "button": "button",
}


class Page:
    """Builds a document control by control; each call gives the control's index."""

    def __init__(self, language: str = "en") -> None:
        self.language = language
        self.controls: list[Control] = []

    def __call__(
        self, label: str = "", type: str = "text", name: str = "", form: int | None = 0, **rest: Any
    ) -> int:
        index = len(self.controls)
        hints = (
            *rest.pop("hints", ()),
            *((("for", label),) if label else ()),
            *((("name", name),) if name else ()),
        )
        options = tuple(Option(value=text, label=text) for text in rest.pop("options", ()))
        control = Control(
            index=index, tag=_TAGS.get(type, "input"), type=type, name=name, label=label, form=form
        )
        rest |= {"hints": hints, "options": options}
        self.controls.append(control.model_copy(update=rest))
        return index

    def document(self, forms: int = 1, **rest: Any) -> FormDocument:
        made = tuple(Form(index=i, action="https://x.example/go", method="post") for i in range(forms))
        return FormDocument(
            url="https://x.example/submit",
            language=self.language,
            forms=made,
            controls=tuple(self.controls),
            **rest,
        )

    def mapped(self, **profile: Any) -> dict[int, MappedControl]:
        forms = max((c.form or 0 for c in self.controls), default=0) + 1
        return {m.index: m for m in map_document(self.document(forms), business(**profile)).controls}


def listing(page: Page) -> None:
    """The usual rest of a submission form."""
    page("Website URL", "url", "url", required=True)
    page("Description", "textarea", "description", required=True)
    page("Submit", "submit", "go")


@pytest.mark.parametrize(("language", "labels"), LABELS.items())
def test_labels_are_read_in_twelve_languages(language: str, labels: dict[str, str]) -> None:
    page = Page(language)
    for label, field in labels.items():
        page(label, "textarea" if field == "description" else "text")
    page("OK", "submit")
    words = page.mapped()
    assert {page.controls[i].label: words[i].field for i in range(len(labels))} == labels


def test_a_qualifier_beats_a_bare_name() -> None:
    page = Page()
    company, name, school = page("Company name"), page("Name"), page("School name")
    listing(page)
    words = page.mapped()
    assert (words[company].field, words[name].field, words[school].field) == ("name", "contact_name", None)


def test_a_bare_name_on_a_listing_form_is_the_business() -> None:
    page = Page()
    name = page("Name", name="name")
    listing(page)
    assert page.mapped()[name].field == "name"


def test_a_bare_name_beside_an_email_alone_is_a_person() -> None:
    page = Page()
    name = page("Name", name="name")
    page("Email", "email", "email")
    page("Message", "textarea", "message")
    page("Send", "submit")
    assert page.mapped()[name].field == "contact_name"


def test_a_type_outranks_a_weak_hint() -> None:
    page = Page()
    mail, tel = page("Contact", "email", "contact"), page("Contact", "tel", "contact2")
    listing(page)
    words = page.mapped()
    assert (words[mail].field, words[tel].field) == ("email", "phone")


def test_an_autocomplete_token_names_the_field() -> None:
    page = Page()
    given, zip_code = (
        page("Field 1", autocomplete="given-name"),
        page("Field 2", autocomplete="shipping postal-code"),
    )
    listing(page)
    words = page.mapped()
    assert (words[given].field, words[zip_code].field) == ("first_name", "postal_code")


def test_glued_and_nested_identifiers_are_read() -> None:
    page = Page()
    named = [
        page(name=n)
        for n in ("txtCompanyName", "listing[contact][firstName]", "shortdescription", "ctl00$Main$tbPhone")
    ]
    page(name="longdesc", type="textarea")
    listing(page)
    words = page.mapped()
    assert [words[i].field for i in named] == ["name", "first_name", "short_description", "phone"]


def test_an_invisible_control_is_never_touched() -> None:
    page = Page()
    trap = page("Website", "url", "website", visible=False, concealment="off-screen")
    box = page(
        "I agree to the terms", "checkbox", "agree", visible=False, concealment="display: none", required=True
    )
    listing(page)
    words = page.mapped()
    assert (words[trap].field, words[trap].action) == ("honeypot", Action.LEAVE)
    assert words[box].action is Action.LEAVE


def test_a_field_that_says_to_leave_it_empty_is_left() -> None:
    page = Page()
    trap = page("Leave this field blank", name="subject_2")
    listing(page)
    assert (page.mapped()[trap].field, page.mapped()[trap].action) == ("honeypot", Action.LEAVE)


def test_hidden_tokens_stay_as_the_site_set_them() -> None:
    page = Page()
    token = page("", "hidden", "authenticity_token", visible=False, value="abc")
    listing(page)
    assert (page.mapped()[token].field, page.mapped()[token].action) == ("csrf", Action.LEAVE)


def test_a_captcha_goes_to_a_human() -> None:
    page = Page()
    sums, code = (
        page("What is 3 + 4?", name="q1", required=True),
        page("Enter the code from the image", name="vcode"),
    )
    listing(page)
    result = map_document(page.document(), business())
    words = {m.index: m for m in result.controls}
    assert {words[i].action for i in (sums, code)} == {Action.HUMAN}
    assert Reason.CAPTCHA in {o.reason for o in result.obstacles}


def test_a_label_that_is_a_question_is_read_by_what_it_asks_for() -> None:
    page = Page()
    asked = {
        page("What is your company name?"): "name",
        page("What is your website?"): "url",
        page("What is your email?"): "email",
        page("What is your revenue?", required=True): None,
        page("What is two plus two?", required=True): "captcha",
        page("What is 1 plus 1 (1+1=?)", required=True): "captcha",
    }
    page("Description", "textarea")
    page("Submit", "submit")
    assert {i: page.mapped()[i].field for i in asked} == asked


def test_a_newsletter_stays_off_and_terms_follow_the_profile() -> None:
    page = Page()
    news = page("Send me the weekly newsletter", "checkbox", "nl")
    terms = page("I accept the terms of use", "checkbox", "agree", required=True)
    listing(page)
    assert page.mapped()[news].action is Action.LEAVE
    assert page.mapped()[terms].action is Action.CHECK
    assert page.mapped(accept_terms=False)[terms].action is Action.HUMAN


def test_terms_that_join_a_newsletter_are_not_accepted_by_machine() -> None:
    page = Page()
    box = page("I accept the terms and want to receive your newsletter", "checkbox", "agree", required=True)
    listing(page)
    assert page.mapped()[box].action is not Action.CHECK


def test_a_name_that_says_accept_makes_no_terms_of_another_question() -> None:
    page = Page("sv")
    box = page("Jag vill ta emot erbjudanden från våra partners", "checkbox", "acceptAds")
    listing(page)
    assert page.mapped()[box].action is Action.LEAVE


@pytest.mark.parametrize(
    ("free", "paid"),
    [
        ("Regular listing (free, reviewed in turn)", "Featured listing ($49)"),
        ("Kostenloser Eintrag", "Premium-Eintrag (19 € im Monat)"),
        ("Inscription gratuite", "Mise en avant (29 €)"),
        ("無料掲載", "有料掲載（5000円）"),
    ],
)
def test_only_the_free_kind_of_listing_is_chosen(free: str, paid: str) -> None:
    page = Page()
    shared = (("legend", "Listing type"),)
    costly = page(paid, "radio", "plan", hints=shared, value="p", checked=True, required=True)
    gratis = page(free, "radio", "plan", hints=shared, value="f")
    listing(page)
    words = page.mapped()
    assert (words[costly].field, words[costly].action) == ("link_type", Action.LEAVE)
    assert (words[gratis].field, words[gratis].action) == ("link_type", Action.CHOOSE)


def test_a_choice_without_a_free_listing_goes_to_a_human() -> None:
    page = Page()
    for number, text in enumerate(("Featured ($49)", "Express ($19)")):
        page(text, "radio", "plan", hints=(("legend", "Listing type"),), value=str(number), required=True)
    listing(page)
    result = map_document(page.document(), business())
    assert Reason.PAYMENT_REQUIRED in {o.reason for o in result.obstacles}
    assert all(m.action is not Action.CHOOSE for m in result.controls)


def test_revenues_in_dollars_are_no_prices_of_a_listing() -> None:
    page = Page()
    revenue = page(
        "Annual revenue",
        "select-one",
        "revenue",
        options=("Pre-revenue", "Up to $10k", "More"),
        required=True,
    )
    listing(page)
    assert (page.mapped()[revenue].field, page.mapped()[revenue].action) == (None, Action.HUMAN)


def test_of_two_submit_buttons_the_free_one_is_pressed() -> None:
    page = Page()
    listing(page)
    page.controls.pop()
    costly, free = (
        page("Submit with express review ($29)", "submit", "go"),
        page("Submit for free", "submit", "go"),
    )
    words = page.mapped()
    assert (words[costly].action, words[free].action) == (Action.LEAVE, Action.CLICK)


def test_a_form_whose_every_button_costs_money_is_an_obstacle() -> None:
    page = Page()
    listing(page)
    page.controls.pop()
    page("Pay $29 and submit", "submit", "go")
    result = map_document(page.document(), business())
    assert Reason.PAYMENT_REQUIRED in {o.reason for o in result.obstacles}
    assert all(m.action is not Action.CLICK for m in result.controls)


def test_the_submission_form_is_chosen_among_search_login_newsletter_and_comments() -> None:
    page = Page()
    page("Search", "search", "q", form=0)
    page("Username", name="login", form=1)
    page("Password", "password", "pw", form=1)
    page("Your e-mail", "email", "mail", form=2)
    page("Subscribe", "submit", form=2)
    for label, kind, name in (
        ("Name", "text", "author"),
        ("E-mail", "email", "email"),
        ("Website", "url", "url"),
        ("Comment", "textarea", "comment"),
    ):
        page(label, kind, name, form=3)
    page("Company name", name="company", form=4)
    page("Website", "url", "site", form=4)
    page("Description", "textarea", "text", form=4)
    page("Add listing", "submit", form=4)
    result = map_document(page.document(5), business())
    assert result.form == 4
    touched = {page.controls[m.index].form for m in result.controls if m.action is not Action.LEAVE}
    assert touched == {4}, "only the submission form may be touched"


def test_a_page_without_a_submission_form_has_none() -> None:
    page = Page()
    page("Search", "search", "q")
    assert map_document(page.document(), business()).form is None


def test_deep_links_and_counters_are_ignored() -> None:
    page = Page()
    first = page("Title", name="title1"), page("URL", "url", "url1")
    rows = [page(f"Title {n}", name=f"title{n}") for n in (2, 3, 4)] + [
        page(f"URL {n}", "url", f"url{n}") for n in (2, 3, 4)
    ]
    counter = page("", name="description_left", value="900")
    page("Description", "textarea", "description")
    page("Submit", "submit")
    words = page.mapped()
    assert [words[i].field for i in first] == ["title", "url"]
    assert {words[i].action for i in [*rows, counter]} == {Action.LEAVE}


def test_a_required_question_that_nothing_answers_goes_to_a_human() -> None:
    page = Page()
    asked = page("Last funding round and its lead investor", name="round", required=True)
    optional = page("How did you hear about us?", name="heard")
    listing(page)
    result = map_document(page.document(), business())
    words = {m.index: m for m in result.controls}
    assert (words[asked].field, words[asked].action) == (None, Action.HUMAN)
    assert words[optional].action is Action.LEAVE
    assert [o.reason for o in result.obstacles] == [Reason.UNANSWERABLE_QUESTION]


def test_an_answer_of_the_profile_answers_its_question() -> None:
    page = Page()
    asked = page("Last funding round and its lead investor", name="round", required=True)
    listing(page)
    words = page.mapped(answers={"last funding round and its lead investor": "None; founders' money"})
    assert words[asked].action is Action.FILL


def test_a_required_radio_group_is_one_question() -> None:
    page = Page()
    shared = (("legend", "How did you hear about us?"),)
    group = [
        page(text, "radio", "heard", hints=shared, value=text, required=True)
        for text in ("From a friend", "A podcast")
    ]
    listing(page)
    result = map_document(page.document(), business())
    assert {m.action for m in result.controls if m.index in group} == {Action.HUMAN}
    assert len(result.obstacles) == 1


def test_a_password_in_the_form_asks_for_an_account() -> None:
    page = Page()
    secret = page("Choose a password", "password", "pw", required=True)
    page("Company name", name="company")
    page("Category", "select-one", "cat", options=("Software",))
    listing(page)
    result = map_document(page.document(), business())
    assert result.controls[secret].action is Action.HUMAN
    assert Reason.LOGIN_REQUIRED in {o.reason for o in result.obstacles}


def test_short_and_long_description_are_told_apart_and_one_alone_is_the_description() -> None:
    page = Page()
    both = page("Short description", "textarea", "s"), page("Full description", "textarea", "l")
    page("URL", "url", "u")
    page("Submit", "submit")
    assert [page.mapped()[i].field for i in both] == ["short_description", "long_description"]
    alone = Page()
    only = alone("Short description", "textarea", "s")
    alone("URL", "url", "u")
    alone("Submit", "submit")
    assert alone.mapped()[only].field == "description"


def test_the_same_page_is_mapped_the_same_twice_and_every_control_has_a_word() -> None:
    page = Page()
    page("Company name")
    listing(page)
    document = page.document()
    assert map_document(document, business()) == map_document(document, business())
    assert [m.index for m in map_document(document).controls] == [c.index for c in document.controls]
