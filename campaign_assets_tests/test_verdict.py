"""The verdict on a click, from every sign together: what is believed, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from campaign_assets.model import Action, Control, Entry, FormDocument, Payload, Reason
from campaign_assets.stages.verdict import Judgement, filing_post, judge
from campaign_assets.states import Verdict
from campaign_assets.web.press import Post, Pressed

PAGE = "https://dir.example/submit"
FORM = (
    Control(index=0, tag="input", type="text", name="company"),
    Control(index=1, tag="input", type="url", name="site"),
)
STANDING = FormDocument(url=PAGE, controls=FORM)
GONE = FormDocument(url="https://dir.example/thanks")
PAYLOAD = Payload(
    url=PAGE,
    form=0,
    fingerprint="f",
    entries=tuple(
        Entry(
            index=c.index,
            name=c.name,
            type=c.type,
            field="name",
            action=Action.FILL,
            value="x",
            source="name",
        )
        for c in FORM
    ),
    submit=2,
)


def judged(
    text: str, status: int | None = 200, *, after: FormDocument | None = GONE, **changes: Any
) -> Judgement:
    """The verdict on a click whose answer has `status` and says `text`."""
    post = Post("POST", PAGE, status, None, "yes" if status else "perhaps")
    given: dict[str, Any] = {
        "sent": "yes", "sentence": "The site answered.", "posts": (post,), "requests": (post,), "status": status,
        "navigated": True, "final_url": GONE.url, "alert": "", "text_after": text, "html_after": f"<p>{text}</p>",
        "text_before": "Add your site\nCompany\nError messages appear here",
    }  # fmt: skip
    return judge(Pressed(**(given | changes)), PAYLOAD, after, "https://tallyhopper.example/")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Thank you! Your site has been added to the directory.", Verdict.ACCEPTED),
        ("Vielen Dank! Ihr Eintrag wurde veröffentlicht.", Verdict.ACCEPTED),
        ("Merci ! Votre site a été ajouté à l'annuaire.", Verdict.ACCEPTED),
        ("¡Gracias! Su sitio se ha añadido al directorio.", Verdict.ACCEPTED),
        ("ありがとうございます。サイトが登録されました。", Verdict.ACCEPTED),
        ("Thank you, our editors will review your submission.", Verdict.PENDING),
        ("Ihr Eintrag wird von der Redaktion geprüft.", Verdict.PENDING),
        ("Merci ! Votre proposition sera examinée par notre équipe.", Verdict.PENDING),
        ("Hemos recibido su solicitud y la revisaremos pronto.", Verdict.PENDING),
        ("申請を受け付けました。審査後に掲載されます。", Verdict.PENDING),
        ("The same submission is being processed.", Verdict.PENDING),
        ("Almost done: please confirm your e-mail address.", Verdict.NEEDS_EMAIL),
        ("Bitte klicken Sie auf den Bestätigungslink.", Verdict.NEEDS_EMAIL),
        ("This website is already in the directory.", Verdict.ALREADY_LISTED),
        ("Diese Webseite ist bereits eingetragen.", Verdict.ALREADY_LISTED),
        ("Ce site figure déjà dans l'annuaire.", Verdict.ALREADY_LISTED),
        ("Este sitio ya está en el directorio.", Verdict.ALREADY_LISTED),
        ("このサイトはすでに登録されています。", Verdict.ALREADY_LISTED),
        ("Sorry, your website was rejected: we only list members.", Verdict.REFUSED),
        ("Hello.", Verdict.UNKNOWN),
        ("", Verdict.UNKNOWN),
    ],
)
def test_words_after_a_good_answer_make_the_verdict(text: str, verdict: Verdict) -> None:
    found = judged(text)
    assert found.verdict is verdict, found
    assert not text or verdict is Verdict.UNKNOWN or text[:20] in found.sentence, (
        "the site's own words belong into the sentence"
    )


def test_success_on_a_500_is_not_believed() -> None:
    found = judged("Thank you! Your site has been added to the directory.", 500)
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, Reason.UNKNOWN_VERDICT)
    assert "500" in found.sentence


def test_success_without_a_post_is_not_believed() -> None:
    assert judged("Thank you!", posts=(), status=200).verdict is Verdict.UNKNOWN


def test_a_refused_value_carries_the_site_s_words() -> None:
    for status in (422, 200):
        found = judged(
            "Please correct the following:\nDescription is too short: at least 100 characters.",
            status,
            after=STANDING,
        )
        assert (found.verdict, found.reason) == (Verdict.REFUSED, Reason.REFUSED_VALUE)
        assert "at least 100 characters" in found.sentence


def test_complaints_and_thanks_in_one_answer_are_for_a_human() -> None:
    found = judged("Thank you!\nDescription is required.", after=STANDING)
    assert found.verdict is Verdict.UNKNOWN


def test_words_that_stood_there_before_say_nothing() -> None:
    before = "Thank you for visiting. Submissions will be reviewed."
    assert judged(before, text_before=before).verdict is Verdict.UNKNOWN


def test_an_alert_speaks_like_the_page() -> None:
    found = judged(
        "Add your site",
        text_before="Add your site",
        alert="Thank you! Your site has been added.",
        after=STANDING,
    )
    assert found.verdict is Verdict.ACCEPTED


def test_nothing_sent_is_certain_and_anything_that_may_have_left_is_unknown() -> None:
    assert judged("Thank you!", sent="no", sentence="Nothing was sent.").verdict is Verdict.NOT_SENT
    assert (
        judged("Thank you!", None, sent="perhaps", sentence="No answer came in time.").verdict
        is Verdict.UNKNOWN
    )


def test_a_conflict_status_with_the_words_is_already_listed() -> None:
    assert (
        judged("This website is already in the directory.", 409, after=STANDING).verdict
        is Verdict.ALREADY_LISTED
    )


@pytest.mark.parametrize(
    ("status", "reason"),
    [(403, Reason.REFUSED_SITE), (422, Reason.REFUSED_VALUE), (429, Reason.UNKNOWN_VERDICT)],
)
def test_a_client_error_without_words_goes_by_its_status(status: int, reason: Reason) -> None:
    assert judged("Hm.", status).reason is reason


def test_the_answer_that_is_the_listing_is_acceptance_with_its_receipt() -> None:
    html = '<h1>Tallyhopper</h1><a href="https://tallyhopper.example/">Visit website</a>'
    found = judged(
        "Tallyhopper\nVisit website",
        303,
        html_after=html,
        final_url="https://dir.example/listing/tallyhopper",
    )
    assert (found.verdict, found.receipt_url) == (Verdict.ACCEPTED, "https://dir.example/listing/tallyhopper")


def test_the_link_to_the_listing_is_the_receipt() -> None:
    html = '<p>Thank you! Your site has been added.</p><a href="/listing/9">View your listing</a>'
    found = judged("Thank you! Your site has been added.", html_after=html)
    assert found.receipt_url == "https://dir.example/listing/9"


def test_a_beacon_s_answer_is_not_the_filing_s() -> None:
    posts = (
        Post("POST", PAGE, 500, None, "yes"),
        Post("POST", "https://stats.example/collect", 204, None, "yes"),
    )
    found = filing_post(posts, PAGE)
    assert found is not None
    assert found.status == 500
