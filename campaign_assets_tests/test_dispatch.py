"""Which runs are requested: fair, never blocked by a slow stage, never more than there are places."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid5

from hypothesis import given
from hypothesis import strategies as st

from campaign_assets.dispatch import POOL_SLOTS, WAITING_AFTER, WAITING_ROOM, Choice, Due, InFlight, choose
from campaign_assets.policy import policies
from campaign_assets.states import Stage

TABLE = policies("production")
_IDS = UUID(int=7)


def due(stage: Stage = Stage.SCORING, campaign: str = "launch", tenant: str = "acme", **changes: Any) -> Due:
    campaign_id = uuid5(_IDS, f"{tenant}/{campaign}")
    return replace(Due(tenant, campaign, campaign_id, stage, due=100, oldest=60.0), **changes)


def running(work: Due, quiet: float = 0.0, quarantine: bool = False) -> InFlight:
    return InFlight(work.campaign_id, work.stage, quarantine, quiet)


def chosen(
    work: list[Due],
    in_flight: list[InFlight] | None = None,
    places: int = 4,
    served: dict[str, int] | None = None,
) -> list[Choice]:
    return choose(work, in_flight or [], served or {}, TABLE, places)[0]


def test_tenants_are_served_in_turn_however_many_campaigns_one_has() -> None:
    work = [due(campaign=f"c{n}") for n in range(10)] + [due(tenant="bolt")]
    assert {c.work.tenant for c in chosen(work, places=2)} == {"acme", "bolt"}


def test_who_was_served_longest_ago_comes_first() -> None:
    work = [due(campaign=f"c{n}") for n in range(3)]
    served: dict[str, int] = {}
    order = []
    for _ in range(6):
        choices, served = choose(work, [], served, TABLE, 1)
        order += [c.work.campaign for c in choices]
    assert order[:3] == order[3:]
    assert set(order) == {"c0", "c1", "c2"}


def test_a_stage_with_a_run_in_flight_gets_no_second_one_for_the_same_work() -> None:
    assert chosen([due()], [running(due())]) == []


def test_a_stage_whose_runs_all_wait_for_slow_sites_gets_another_within_its_row() -> None:
    work = due(Stage.DISCOVERY)
    assert len(chosen([work], [running(work, quiet=WAITING_AFTER)])) == 1
    assert chosen([work], [running(work, quiet=WAITING_AFTER)] * TABLE[Stage.DISCOVERY].runs) == []


def test_runs_that_only_wait_leave_their_places_to_other_stages() -> None:
    slow = [running(due(campaign=f"slow{n}"), quiet=WAITING_AFTER) for n in range(4)]
    assert len(chosen([due(tenant="bolt")], slow)) == 1
    busy = [running(due(campaign=f"busy{n}")) for n in range(4)]
    assert chosen([due(tenant="bolt")], busy) == []


def test_a_run_whose_worker_never_spoke_does_not_keep_another_from_its_work() -> None:
    lost = replace(running(due()), lost=True)
    assert len(chosen([due()], [lost], places=1)) == 1
    assert chosen([due()], [lost, lost], places=1) == [], "but there is an end to it"


def test_no_pool_is_asked_for_more_than_it_has() -> None:
    work = [due(Stage.FORM_MAPPING, campaign=f"c{n}") for n in range(9)]
    assert len(chosen(work, places=9)) == POOL_SLOTS["browser"]


def test_a_full_pool_does_not_stand_in_the_way_of_others() -> None:
    full = [running(due(Stage.FORM_MAPPING, campaign=f"c{n}")) for n in range(POOL_SLOTS["browser"])]
    work = [due(Stage.FORM_MAPPING, campaign="later"), due(Stage.CONTENT, campaign="later")]
    assert [c.work.stage for c in chosen(work, full, places=9)] == [Stage.CONTENT]


def test_a_few_fresh_units_wait_a_tick_for_company() -> None:
    assert chosen([due(due=3, oldest=1.0)]) == []
    assert len(chosen([due(due=3, oldest=5.0)])) == 1
    assert len(chosen([due(due=TABLE[Stage.SCORING].page_size, oldest=0.0)])) == 1


def test_lost_units_get_a_run_of_their_own_beside_the_ordinary_one() -> None:
    kinds = [c.quarantine for c in chosen([due(alone=4)])]
    assert sorted(kinds) == [False, True]
    assert chosen([due(due=0, alone=4)], [running(due(), quarantine=True)]) == []


def test_a_stage_whose_runs_achieve_nothing_is_left_alone_for_longer_and_longer() -> None:
    assert len(chosen([due(barren=1, rested=0.0)])) == 1, "a killed worker is followed up at once"
    assert chosen([due(barren=2, rested=3.0)]) == []
    assert len(chosen([due(barren=2, rested=11.0)])) == 1
    assert chosen([due(barren=6, rested=100.0)]) == []
    assert len(chosen([due(barren=50, rested=301.0)])) == 1


def test_an_unread_source_is_work() -> None:
    assert len(chosen([due(Stage.DISCOVERY, due=0, oldest=0.0, unread=True)])) == 1


_works = st.lists(
    st.builds(
        due,
        st.sampled_from(Stage),
        st.sampled_from("abc"),
        st.sampled_from("xy"),
        due=st.integers(0, 2000),
        alone=st.integers(0, 3),
    ),
    max_size=20,
    unique_by=lambda d: (d.tenant, d.campaign, d.stage),
)
_runs = st.lists(
    st.builds(
        running, st.builds(due, st.sampled_from(Stage), st.sampled_from("abc")), st.sampled_from([0.0, 60.0])
    ),
    max_size=12,
)


@given(_works, _runs, st.integers(1, 8))
def test_there_are_never_more_runs_than_places_and_rows_allow(
    work: list[Due], in_flight: list[InFlight], places: int
) -> None:
    choices = chosen(work, in_flight, places)
    moving = sum(run.quiet < WAITING_AFTER for run in in_flight)
    assert len(choices) <= max(0, places - moving)
    assert len(choices) + len(in_flight) <= max(WAITING_ROOM * places, len(in_flight))
    for choice in choices:
        mine = [
            r
            for r in in_flight
            if (r.campaign_id, r.stage) == (choice.work.campaign_id, choice.work.stage)
            and r.quarantine == choice.quarantine
        ]
        assert len(mine) < TABLE[choice.work.stage].runs


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=4, unique=True))
def test_everyone_with_work_is_served_within_as_many_rounds_as_there_are(names: list[str]) -> None:
    work = [due(campaign=name, tenant=name) for name in names]
    served: dict[str, int] = {}
    seen: set[str] = set()
    for _ in names:
        choices, served = choose(work, [], served, TABLE, 1)
        seen |= {c.work.tenant for c in choices}
    assert seen == set(names)
