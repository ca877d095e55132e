"""The submission guard in the ledger: at most one filing stands, nobody files on old knowledge, and facts outlive
everything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from campaign_assets.errors import InputError, Refused
from campaign_assets.ledger import operators, reading, scheduling, work
from campaign_assets.ledger.campaigns import Campaign
from campaign_assets.model import (
    Approval,
    ConfirmationResult,
    Outcome,
    PreflightResult,
    Reason,
    SubmissionResult,
    Unit,
)
from campaign_assets.policy import RESULT_PATIENCE
from campaign_assets.states import FILED, Stage, State, Verdict
from campaign_assets_tests.ledger_world import POLICIES, World, payload, result_for

SUBMISSION, PREFLIGHT = Stage.SUBMISSION, Stage.PREFLIGHT


@pytest.fixture
def campaign(world: World) -> Campaign:
    """One publisher, ready to be filed."""
    made = world.campaign()
    world.reach(made, SUBMISSION)
    return made


@pytest.fixture
def filing(world: World, campaign: Campaign) -> Unit:
    """The same, claimed: its filing is open."""
    return world.claim_one(campaign, SUBMISSION)


def verdicts(world: World, campaign: Campaign) -> list[tuple[str, str | None, str | None]]:
    return [(row.phase, row.verdict, row.late_verdict) for row in world.filings(campaign)]


def again_ready(world: World, campaign: Campaign, *, marker: str) -> None:
    """After a correction: the stages from content on run once more, with another payload."""
    world.promote(campaign)
    for stage in (Stage.CONTENT, PREFLIGHT):
        world.run(campaign, stage, marker=marker)
        world.promote(campaign)


def new_epoch(world: World, campaign: Campaign) -> None:
    """Restart, and run everything before submission again."""
    world.operate(campaign, operators.restart)
    world.promote(campaign)
    world.reach(campaign, SUBMISSION)


# ------------------------------------------------------------------------------------------------------------ claiming


def test_a_claim_opens_the_filing_in_the_same_transaction(world: World, campaign: Campaign) -> None:
    with world.ledger.bound("acme") as tx:
        assert len(work.claim(tx, campaign.id, SUBMISSION, "run-1", 5)) == 1, "submissions come singly"
        tx.rollback()  # killed before the commit
    assert world.state(campaign, SUBMISSION) is State.READY
    assert world.filings(campaign) == []
    unit = world.claim_one(campaign, SUBMISSION, run_id="run-2")
    opened = world.filings(campaign)[0]
    assert (opened.claim, opened.phase, opened.verdict, opened.target, opened.site) == (
        unit.claim, "claimed", None, "example.com", "s0.example",
    )  # fmt: skip
    assert (opened.payload_hash, opened.preflight_version) == (payload().hash, 1)
    assert opened.payload["url"] == payload().url, "what will be filed is kept before it is"
    assert unit.filing is not None
    assert unit.filing.id == opened.id


def test_several_filings_of_a_campaign_may_be_in_flight(world: World) -> None:
    campaign = world.campaign(publishers=3)
    world.reach(campaign, SUBMISSION)
    assert len({world.claim_one(campaign, SUBMISSION).id for _ in range(3)}) == 3


def test_ten_workers_at_one_unit_open_one_filing(world: World, campaign: Campaign) -> None:
    together = threading.Barrier(10)

    def claim(number: int) -> int:
        together.wait()
        return len(world.claim(campaign, SUBMISSION, run_id=f"run-{number}"))

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(claim, range(10))) == 1
    assert len(world.filings(campaign)) == 1


def two_campaigns(world: World) -> tuple[Campaign, Campaign]:
    """Of one tenant, for the same business, both about to file at the same site."""
    made = [world.campaign(f"acme/{slug}", ["s0.example"]) for slug in ("first", "second")]
    for campaign in made:
        world.reach(campaign, SUBMISSION)
    return made[0], made[1]


def test_of_two_campaigns_for_one_target_and_site_one_files_and_the_other_waits(world: World) -> None:
    first, second = two_campaigns(world)
    unit = world.claim_one(first, SUBMISSION)
    assert world.claim(second, SUBMISSION) == []
    waiting = world.unit(second, SUBMISSION)
    assert (waiting.state, waiting.reason, waiting.waits) == ("ready", "filing_open_elsewhere", 1)
    assert world.arm(unit)
    world.verdict(unit, Verdict.PENDING)
    assert world.promote(second)["adopt"] == 1, "the verdict wakes the one that waits"
    assert world.state(second, SUBMISSION) is State.SUCCEEDED
    assert len(world.filings(second)) == 1


def test_of_two_claims_at_the_same_moment_the_index_lets_one_through(world: World) -> None:
    first, second = two_campaigns(world)
    with ThreadPoolExecutor(1) as pool:
        with world.ledger.bound("acme") as tx:
            assert len(work.claim(tx, first.id, SUBMISSION, "run-1", 1)) == 1
            other = pool.submit(world.claim, second, SUBMISSION)
            blocked = text(
                "select count(*) from pg_stat_activity where datname = current_database() "
                "and cardinality(pg_blocking_pids(pid)) > 0"
            )
            with world.ledger.engine.connect() as watcher:
                while not watcher.execute(blocked).scalar_one():
                    watcher.rollback()
        assert other.result(30) == []
    assert len(world.filings(first)) == 1
    assert world.unit(second, SUBMISSION).reason == "filing_open_elsewhere"


def test_the_index_itself_forbids_a_second_standing_filing(
    world: World, filing: Unit, campaign: Campaign
) -> None:
    copy = """insert into filings (unit_id, target, site, claim, epoch, phase, verdict, answered_at, preflight_version)
        select unit_id, target, site, gen_random_uuid(), 9, phase, verdict, answered_at, 9 from filings"""
    for verdict in (None, *Verdict):
        with world.ledger.bound("acme") as tx:
            change = text(
                "update filings set verdict = cast(:verdict as text), "
                "phase = case when cast(:verdict as text) is null then 'claimed' else 'answered' end, "
                "answered_at = case when cast(:verdict as text) is null then null else now() end"
            )
            tx.execute(change, {"verdict": verdict})
            if verdict in (Verdict.REFUSED, Verdict.NOT_SENT):
                tx.execute(text(copy))
            else:
                with pytest.raises(IntegrityError, match="filings_one_stands"):
                    tx.execute(text(copy))
            tx.rollback()


def test_a_filing_open_elsewhere_is_waited_for_with_a_bound_and_then_held(world: World) -> None:
    first, second = two_campaigns(world)
    world.claim_one(first, SUBMISSION)
    for _ in range(RESULT_PATIENCE + 1):
        with world.ledger.bound("acme") as tx:
            tx.execute(text("update units set due_at = now() where state = 'ready' and stage = 'submission'"))
        assert world.claim(second, SUBMISSION) == []
    held = world.unit(second, SUBMISSION)
    assert (held.state, held.reason) == ("held", "filing_open_elsewhere")
    assert len(world.filings(second)) == 1, "it was held without a filing of its own"


def test_a_site_is_one_under_all_its_names(world: World) -> None:
    """A filing made under an alias stands in the way of one under the site's own name, and the other way round."""
    first, second = (
        world.campaign("acme/first", ["old.example"]),
        world.campaign("acme/second", ["new.example"]),
    )
    unit = world.claim_one(first, Stage.DISCOVERY)
    with world.ledger.bound("acme") as tx:
        assert work.note_alias(tx, unit, "new.example") is None
    world.finish(unit)
    world.promote(first)
    for campaign in (first, second):
        world.reach(campaign, SUBMISSION)
    world.claim_one(first, SUBMISSION)
    assert world.filings(first)[0].site == "new.example"
    assert world.claim(second, SUBMISSION) == []


def test_a_submission_whose_preflight_is_being_redone_is_not_claimed(
    world: World, campaign: Campaign
) -> None:
    for stage in (Stage.DISCOVERY, Stage.CONTENT, PREFLIGHT):
        with world.ledger.bound("acme") as tx:
            operators.rerun(tx, world.key(campaign), stage)
            assert work.claim(tx, campaign.id, SUBMISSION, "run-1", 1) == [], f"{stage} is no longer current"
            tx.rollback()
    assert len(world.claim(campaign, SUBMISSION)) == 1


# ------------------------------------------------------------------------------------------------------------ approval


@pytest.mark.parametrize(
    ("approval", "held", "claimed"),
    [
        (Approval.AUTOMATIC, False, True),
        (Approval.BY_EXCEPTION, False, True),
        (Approval.EACH, False, False),
    ],
)
def test_a_payload_that_needs_approval_is_not_filed_without(
    world: World, approval: Approval, held: bool, claimed: bool
) -> None:
    campaign = world.campaign(approval=approval)
    world.reach(campaign, SUBMISSION)
    assert bool(world.claim(campaign, SUBMISSION)) is claimed
    if not claimed:
        unit = world.unit(campaign, SUBMISSION)
        assert (unit.state, unit.reason) == ("held", "approval")
        world.human(world.key(campaign), operators.decide, SUBMISSION, "approve")
        assert world.claim_one(campaign, SUBMISSION).approved_payload == payload().hash


def test_an_approval_is_bound_to_the_payloads_hash(world: World) -> None:
    campaign = world.campaign(approval=Approval.EACH)
    world.reach(campaign, PREFLIGHT)
    question = Outcome.hold(Reason.APPROVAL, "file this?", result_for(PREFLIGHT, "first"))
    world.finish(world.claim_one(campaign, PREFLIGHT), question)
    world.promote(campaign)
    assert world.state(campaign, SUBMISSION) is State.NONE
    world.human(world.key(campaign), operators.decide, PREFLIGHT, "approve", None, "looks right")
    assert world.state(campaign, PREFLIGHT) is State.SUCCEEDED
    world.promote(campaign)
    world.human(world.key(campaign), operators.rerun, PREFLIGHT)  # and now it assembles another payload
    unit = world.claim_one(campaign, PREFLIGHT)
    assert unit.approved_payload == payload("first").hash
    world.finish(unit, Outcome.succeed(result_for(PREFLIGHT, "second"), "it believed the old yes"))
    world.promote(campaign)
    assert world.claim(campaign, SUBMISSION) == []
    assert world.unit(campaign, SUBMISSION).reason == "approval"


@pytest.mark.parametrize("reason", sorted(operators.SETTLES))
def test_what_approval_does_not_settle_is_refused_with_the_decision_that_would(
    world: World, reason: Reason
) -> None:
    campaign = world.campaign()
    world.reach(campaign, PREFLIGHT)
    world.finish(
        world.claim_one(campaign, PREFLIGHT), Outcome.hold(reason, "it says so", result_for(PREFLIGHT))
    )
    with pytest.raises(Refused) as refused:
        world.human(world.key(campaign), operators.decide, PREFLIGHT, "approve")
    assert operators.SETTLES[reason] in refused.value.sentence
    assert world.state(campaign, PREFLIGHT) is State.HELD
    assert [
        row.choice for row in world.query(campaign, "select choice from decisions where unit_id is not null")
    ] == []


def test_a_hold_that_is_filed_by_hand_is_taken_over_by_submission(world: World) -> None:
    campaign = world.campaign()
    world.reach(campaign, PREFLIGHT)
    world.finish(world.claim_one(campaign, PREFLIGHT), Outcome.hold(Reason.CAPTCHA, "a captcha"))
    world.human(world.key(campaign), operators.decide, PREFLIGHT, "filed", None, "typed the captcha myself")
    world.promote(campaign)
    assert (world.state(campaign, PREFLIGHT), world.state(campaign, SUBMISSION)) == (
        State.SUCCEEDED,
        State.SUCCEEDED,
    )
    made = world.filings(campaign)[0]
    assert (made.verdict, made.by_human) == ("accepted", True)
    world.promote(campaign)
    confirming = world.claim_one(campaign, Stage.CONFIRMATION)
    assert confirming.result(SubmissionResult).sentence == "typed the captcha myself"
    assert confirming.filing is not None
    with pytest.raises(Refused):
        world.human(world.key(campaign), operators.decide, PREFLIGHT, "filed")


# -------------------------------------------------------------------------------------------------------------- arming


def test_arming_is_said_yes_to_once(world: World, filing: Unit) -> None:
    assert world.arm(filing)
    assert not world.arm(filing)


def _revoked(world: World, campaign: Campaign, unit: Unit) -> None:
    world.expire(unit)
    world.human(unit.key, operators.resolve, False)


def _claimed_again(world: World, campaign: Campaign, unit: Unit) -> None:
    _revoked(world, campaign, unit)
    world.claim_one(campaign, SUBMISSION)


def _called_filed(world: World, campaign: Campaign, unit: Unit) -> None:
    world.expire(unit)
    world.human(unit.key, operators.resolve, True)


def _newer_preflight(world: World, campaign: Campaign, unit: Unit) -> None:
    world.human(unit.key, operators.rerun, PREFLIGHT)
    world.run(campaign, PREFLIGHT, marker="second")


ARM_REFUSES: dict[str, Callable[[World, Campaign, Unit], object]] = {
    "a pause": lambda w, c, u: w.operate(c, operators.pause),
    "a restart": lambda w, c, u: w.operate(c, operators.restart),
    "an archive": lambda w, c, u: w.operate(c, operators.archive),
    "the reaper": lambda w, c, u: w.expire(u),
    "its own release": lambda w, c, u: _release(w, u),
    "a revoked token": _revoked,
    "a second claim after it was revoked": _claimed_again,
    "a human who says filed": _called_filed,
    "a re-run of preflight": lambda w, c, u: w.human(u.key, operators.rerun, PREFLIGHT),
    "a re-run of discovery": lambda w, c, u: w.human(u.key, operators.rerun, Stage.DISCOVERY),
    "a newer preflight": _newer_preflight,
}


def _release(world: World, unit: Unit) -> None:
    with world.ledger.bound("acme") as tx:
        assert work.release(tx, [unit]) == 1


@pytest.mark.parametrize("what", ARM_REFUSES)
def test_arming_refuses_after(what: str, world: World, campaign: Campaign, filing: Unit) -> None:
    ARM_REFUSES[what](world, campaign, filing)
    assert not world.arm(filing)
    assert all(row.armed_at is None for row in world.filings(campaign))


def test_a_worker_that_could_not_arm_ends_not_sent_and_the_target_is_free(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    world.operate(campaign, operators.pause)
    assert not world.arm(filing)
    world.finish(filing, Outcome.retry(Reason.NOT_SENT, "could not arm", 0))
    assert verdicts(world, campaign) == [("answered", "not_sent", None)]
    assert (world.state(campaign, SUBMISSION), world.unit(campaign, SUBMISSION).attempts) == (State.READY, 1)
    world.operate(campaign, operators.start)
    assert world.arm(world.claim_one(campaign, SUBMISSION))


def test_not_sent_lands_by_token_alone_after_a_restart_and_the_unit_is_released(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    world.operate(campaign, operators.restart)
    assert world.state(campaign, SUBMISSION) is State.SUBMITTING, "a restart leaves it alone"
    committed = world.finish(filing, Outcome.fail(Reason.FORM_CHANGED, "another form"))
    assert not committed[0].applied, "its wish was of the old epoch"
    assert verdicts(world, campaign) == [("answered", "not_sent", None)]
    assert world.state(campaign, SUBMISSION) is State.READY
    assert world.claim(campaign, SUBMISSION) == [], "of the old epoch"
    world.promote(campaign)
    assert world.state(campaign, SUBMISSION) is State.NONE


def test_a_word_of_failure_after_arming_is_not_believed(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    assert world.arm(filing)
    world.finish(filing, Outcome.fail(Reason.ERROR, "the browser died in the click"))
    assert world.state(campaign, SUBMISSION) is State.UNRESOLVED
    assert verdicts(world, campaign) == [("answered", "unknown", None)]
    assert "the browser died in the click" in world.unit(campaign, SUBMISSION).detail


def test_a_worker_that_knows_that_nothing_left_the_machine_is_believed(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    assert world.arm(filing)
    world.finish(filing, Outcome.fail(Reason.NOT_SENT, "connection refused before the request"))
    assert world.state(campaign, SUBMISSION) is State.FAILED
    assert verdicts(world, campaign) == [("answered", "not_sent", None)]
    with pytest.raises(Refused, match="armed"):
        world.human(filing.key, operators.rerun, SUBMISSION)


def test_a_stop_releases_what_is_not_armed_and_leaves_what_is(world: World) -> None:
    campaign = world.campaign(publishers=2)
    world.reach(campaign, SUBMISSION)
    first, second = world.claim_one(campaign, SUBMISSION), world.claim_one(campaign, SUBMISSION)
    assert world.arm(first)
    with world.ledger.bound("acme") as tx:
        assert work.release(tx, [first, second]) == 1
    assert world.state(campaign, SUBMISSION, first.key.site) is State.SUBMITTING
    assert world.state(campaign, SUBMISSION, second.key.site) is State.READY
    assert world.claim_one(campaign, SUBMISSION).attempts == 0


# ------------------------------------------------------------------------------------------------------------ verdicts


@pytest.mark.parametrize(
    ("verdict", "reason", "state"),
    [
        (Verdict.ACCEPTED, None, State.SUCCEEDED),
        (Verdict.PENDING, Reason.MODERATION, State.SUCCEEDED),
        (Verdict.NEEDS_EMAIL, Reason.EMAIL_CONFIRMATION, State.SUCCEEDED),
        (Verdict.ALREADY_LISTED, None, State.SUCCEEDED),
        (Verdict.REFUSED, Reason.REFUSED_VALUE, State.HELD),
        (Verdict.REFUSED, None, State.HELD),
        (Verdict.REFUSED, Reason.REFUSED_SITE, State.REJECTED),
        (Verdict.UNKNOWN, None, State.UNRESOLVED),
    ],
)
@pytest.mark.parametrize("after", ["in time", "after it was unresolved", "after a restart", "while paused"])
def test_a_verdict_lands(
    verdict: Verdict,
    reason: Reason | None,
    state: State,
    after: str,
    world: World,
    campaign: Campaign,
    filing: Unit,
) -> None:
    assert world.arm(filing)
    acts: dict[str, Callable[[], object]] = {
        "in time": lambda: None,
        "after it was unresolved": lambda: world.expire(filing),
        "after a restart": lambda: world.operate(campaign, operators.restart),
        "while paused": lambda: world.operate(campaign, operators.pause),
    }
    acts[after]()
    committed = world.verdict(filing, verdict, reason)
    assert (committed.applied, committed.state) == (True, state)
    assert verdicts(world, campaign) == [("answered", verdict, None)]
    unit = world.unit(campaign, SUBMISSION)
    assert (unit.state, unit.version, unit.epoch) == (state, 1, 1)
    if state is not State.SUCCEEDED:
        assert unit.reason


def test_the_same_verdict_twice_is_written_once(world: World, campaign: Campaign, filing: Unit) -> None:
    assert world.arm(filing)
    assert world.verdict(filing, Verdict.ACCEPTED).applied
    assert not world.verdict(filing, Verdict.ACCEPTED).applied
    assert not world.verdict(filing, Verdict.REFUSED).applied
    assert verdicts(world, campaign) == [("answered", "accepted", None)]
    assert world.unit(campaign, SUBMISSION).version == 1


def test_an_unknown_verdict_gives_way_to_a_known_one(world: World, campaign: Campaign, filing: Unit) -> None:
    assert world.arm(filing)
    world.verdict(filing, Verdict.UNKNOWN)
    assert world.verdict(filing, Verdict.ACCEPTED).applied
    assert world.state(campaign, SUBMISSION) is State.SUCCEEDED


def test_a_claimed_filing_without_a_verdict_goes_to_a_human_and_stays_there(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    world.expire(filing)
    for _ in range(3):
        world.promote(campaign)
        assert world.claim(campaign, SUBMISSION) == []
    with world.ledger.bound("acme") as tx:
        assert scheduling.reap(tx, POLICIES) == []
        waiting = reading.attention(tx, campaign.id)
    assert [(unit["state"], unit["decisions"]) for unit in waiting] == [
        (State.UNRESOLVED, ["filed", "not_filed"])
    ]
    new_epoch(world, campaign)
    assert world.state(campaign, SUBMISSION) is State.UNRESOLVED
    with world.ledger.bound("acme") as tx:
        assert len(reading.attention(tx, campaign.id)) == 1, "also in a new epoch"


# ------------------------------------------------------------------------------------------------------ a human's word


def test_not_filed_frees_the_target_and_filed_does_not(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    world.expire(filing)
    world.human(filing.key, operators.resolve, True, "saw it there")
    assert (world.state(campaign, SUBMISSION), verdicts(world, campaign)) == (
        State.SUCCEEDED,
        [("answered", "accepted", None)],
    )
    world.promote(campaign)
    assert world.claim_one(campaign, Stage.CONFIRMATION).result(SubmissionResult).sentence == "saw it there"
    with pytest.raises(Refused, match="not unresolved"):
        world.human(filing.key, operators.resolve, False)


def test_a_late_verdict_replaces_a_humans_not_filed_where_nothing_else_stands(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    assert world.arm(filing)
    world.expire(filing)
    world.human(filing.key, operators.resolve, False)
    assert world.state(campaign, SUBMISSION) is State.READY
    assert world.verdict(filing, Verdict.ACCEPTED).applied
    assert verdicts(world, campaign) == [("answered", "accepted", "accepted")]
    assert world.state(campaign, SUBMISSION) is State.SUCCEEDED
    assert world.claim(campaign, SUBMISSION) == []


def test_a_late_verdict_while_a_second_filing_is_open_makes_the_unit_unresolved(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    assert world.arm(filing)
    world.expire(filing)
    world.human(filing.key, operators.resolve, False)
    second = world.claim_one(campaign, SUBMISSION)
    assert not world.verdict(filing, Verdict.ACCEPTED).applied
    assert verdicts(world, campaign) == [("answered", "not_sent", "accepted"), ("claimed", None, None)]
    assert world.state(campaign, SUBMISSION) is State.UNRESOLVED
    assert not world.arm(second), "nobody can tell any more what stands"
    world.finish(second, Outcome.fail(Reason.NOT_SENT, "could not arm"))
    assert world.state(campaign, SUBMISSION) is State.UNRESOLVED
    world.human(filing.key, operators.resolve, True)
    assert verdicts(world, campaign)[0] == ("answered", "accepted", "accepted")


def test_a_late_verdict_while_another_campaigns_filing_is_open_makes_both_unresolved(world: World) -> None:
    first, second = two_campaigns(world)
    mine = world.claim_one(first, SUBMISSION)
    assert world.arm(mine)
    world.expire(mine)
    world.human(mine.key, operators.resolve, False)
    theirs = world.claim_one(second, SUBMISSION)
    world.verdict(mine, Verdict.PENDING)
    assert (world.state(first, SUBMISSION), world.state(second, SUBMISSION)) == (
        State.UNRESOLVED,
        State.UNRESOLVED,
    )
    assert not world.arm(theirs)
    world.human(theirs.key, operators.resolve, False)
    assert world.state(second, SUBMISSION) is State.READY
    world.human(mine.key, operators.resolve, True, "the first one is on the site")
    world.promote(second)
    assert world.state(second, SUBMISSION) is State.SUCCEEDED
    assert [row.verdict for row in world.filings(first)] == ["accepted", "not_sent"]


def test_a_verdict_after_a_humans_filed_is_only_noted(world: World, campaign: Campaign, filing: Unit) -> None:
    assert world.arm(filing)
    world.expire(filing)
    world.human(filing.key, operators.resolve, True)
    assert not world.verdict(filing, Verdict.REFUSED).applied
    assert verdicts(world, campaign) == [("answered", "accepted", "refused")]
    assert world.state(campaign, SUBMISSION) is State.SUCCEEDED


# ------------------------------------------------------------------------------------------------- refusal, correction


def test_after_a_refusal_only_a_correction_opens_the_next_filing(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    assert world.arm(filing)
    world.verdict(filing, Verdict.REFUSED, Reason.REFUSED_VALUE)
    world.promote(campaign)
    world.human(filing.key, operators.rerun, PREFLIGHT)  # a newer preflight alone does not
    world.run(campaign, PREFLIGHT, marker="second")
    world.promote(campaign)
    assert world.state(campaign, SUBMISSION) is State.HELD
    with pytest.raises(Refused):
        world.human(filing.key, operators.rerun, SUBMISSION)
    world.human(filing.key, operators.decide, SUBMISSION, "correct", {"business_name": "Example"}, "shorter")
    assert world.claim(campaign, SUBMISSION) == [], "not with the old preflight"
    world.promote(campaign)
    assert world.state(campaign, SUBMISSION) is State.NONE, "it follows the new texts"
    writing = world.claim_one(campaign, Stage.CONTENT)
    assert writing.corrections == {"business_name": "Example"}
    world.finish(writing)
    world.promote(campaign)
    world.run(campaign, PREFLIGHT, marker="third")
    world.promote(campaign)
    second = world.claim_one(campaign, SUBMISSION)
    assert world.arm(second)
    world.verdict(second, Verdict.ACCEPTED)
    assert [(row.verdict, row.payload_hash) for row in world.filings(campaign)] == [
        ("refused", payload("first").hash),
        ("accepted", payload("third").hash),
    ]


def test_a_refusal_is_taken_over_by_a_new_epoch_and_by_another_campaign(world: World) -> None:
    first, second = two_campaigns(world)
    unit = world.claim_one(first, SUBMISSION)
    assert world.arm(unit)
    world.verdict(unit, Verdict.REFUSED, Reason.REFUSED_VALUE)
    assert world.claim(second, SUBMISSION) == []
    world.promote(second)
    assert (world.state(second, SUBMISSION), world.unit(second, SUBMISSION).reason) == (
        State.HELD,
        "refused_value",
    )
    new_epoch(world, first)
    held = world.unit(first, SUBMISSION)
    assert (held.state, held.epoch, held.reason) == ("held", 2, "refused_value")
    assert world.claim(first, SUBMISSION) == []
    world.human(unit.key, operators.decide, SUBMISSION, "correct", {"name": "x"})
    again_ready(world, first, marker="second")
    assert len(world.claim(first, SUBMISSION)) == 1


# ------------------------------------------------------------------------------------------------------------ adoption


@pytest.mark.parametrize("verdict", sorted(FILED))
def test_a_new_epoch_adopts_what_was_filed_instead_of_filing_again(
    verdict: Verdict, world: World, campaign: Campaign, filing: Unit
) -> None:
    assert world.arm(filing)
    world.verdict(filing, verdict)
    world.promote(campaign)
    new_epoch(world, campaign)
    unit = world.unit(campaign, SUBMISSION)
    assert (unit.state, unit.epoch, unit.version) == ("succeeded", 2, 1)
    assert "not filed again" in unit.detail
    assert world.claim(campaign, SUBMISSION) == []
    assert len(world.filings(campaign)) == 1
    world.promote(campaign)
    assert world.claim_one(campaign, Stage.CONFIRMATION).epoch == 2


def test_a_form_filed_under_the_old_epoch_is_adopted_when_its_verdict_comes_late(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    assert world.arm(filing)
    new_epoch(world, campaign)
    assert world.state(campaign, SUBMISSION) is State.SUBMITTING
    world.verdict(filing, Verdict.ACCEPTED)
    assert world.promote(campaign)["adopt"] == 1
    unit = world.unit(campaign, SUBMISSION)
    assert (unit.state, unit.epoch) == ("succeeded", 2)


def test_an_unresolved_filing_of_another_campaign_is_adopted_as_unresolved_once_its_verdict_is_unknown(
    world: World,
) -> None:
    first, second = two_campaigns(world)
    unit = world.claim_one(first, SUBMISSION)
    assert world.arm(unit)
    world.verdict(unit, Verdict.UNKNOWN)
    assert world.claim(second, SUBMISSION) == []
    world.promote(second)
    assert world.state(second, SUBMISSION) is State.UNRESOLVED
    world.human(world.key(first), operators.resolve, True)
    world.human(world.key(second), operators.resolve, True)
    assert [row.verdict for row in world.filings(first)] == ["accepted"]
    assert world.state(second, SUBMISSION) is State.SUCCEEDED


def test_a_listing_that_preflight_finds_is_recorded_without_a_browser(world: World) -> None:
    campaign = world.campaign()
    world.reach(campaign, PREFLIGHT)
    found = PreflightResult(
        payload=None, payload_hash="", checks=(), existing_listing="https://s0.example/listing/7"
    )
    world.finish(world.claim_one(campaign, PREFLIGHT), Outcome.succeed(found, "it is listed"))
    world.promote(campaign)
    assert world.claim(campaign, SUBMISSION) == []
    assert world.state(campaign, SUBMISSION) is State.SUCCEEDED
    made = world.filings(campaign)[0]
    assert (made.verdict, made.receipt_url, made.armed_at) == (
        "already_listed",
        "https://s0.example/listing/7",
        None,
    )
    world.promote(campaign)
    unit = world.claim_one(campaign, Stage.CONFIRMATION)
    assert unit.result(SubmissionResult).receipt_url == "https://s0.example/listing/7"
    world.finish(
        unit,
        Outcome.succeed(
            ConfirmationResult(listing_url="https://s0.example/listing/7", found_by="preflight"), "there"
        ),
    )


def test_a_newer_preflight_after_filing_is_shown_and_confirmation_follows_the_filing(
    world: World, campaign: Campaign, filing: Unit
) -> None:
    assert world.arm(filing)
    world.verdict(filing, Verdict.ACCEPTED)
    world.promote(campaign)
    confirming = world.claim_one(campaign, Stage.CONFIRMATION)
    world.finish(confirming, Outcome.wait(Reason.MODERATION, "not there yet", 3600))
    world.human(filing.key, operators.rerun, PREFLIGHT)
    world.promote(campaign)
    assert world.state(campaign, Stage.CONFIRMATION) is State.READY, "it follows the filing, not the payload"
    world.run(campaign, PREFLIGHT, marker="second")
    assert world.promote(campaign) == {}
    assert world.state(campaign, SUBMISSION) is State.SUCCEEDED
    with world.ledger.bound("acme") as tx:
        shown = reading.show(tx, filing.key)
    assert [filed["earlier_payload"] for filed in shown["filings"]] == [True]


def test_a_verdict_is_never_taken_from_a_stage_that_has_none_to_give(world: World, filing: Unit) -> None:
    for verdict in (None, Verdict.NOT_SENT):
        with world.ledger.bound("acme") as tx, pytest.raises(ValueError, match="not a verdict"):
            work.record_verdict(tx, filing, Outcome.fact(verdict, "?", None))  # type: ignore[arg-type]


def test_a_publisher_that_does_not_exist_is_named(world: World, campaign: Campaign) -> None:
    with pytest.raises(InputError, match=r"acme/launch/nowhere\.example"):
        world.human(world.key(campaign, "nowhere.example"), operators.resolve, True)
