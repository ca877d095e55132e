"""What *current* and *open* mean, as SQL: the one definition that promotion, the claim of a submission and
arming share.

A unit is current when its epoch is the campaign's, it is no leftover of an earlier pass, and the version it consumed is
its upstream's latest. It is open when every stage before it has succeeded and is current. A filing is never redone, so
submission ignores what it consumed, and what comes after submission follows the filing, whatever happens before it.
"""

from __future__ import annotations

from campaign_assets.ledger.sql import fragment
from campaign_assets.states import Stage

_POSITION = "case u.stage " + " ".join(f"when '{stage}' then {n}" for n, stage in enumerate(Stage)) + " end"

CHAIN = fragment(
    """
versions as (
    select u.id, u.publisher_id, u.campaign_id, u.stage, u.state, u.reason, u.epoch, u.version, u.consumed, u.earlier,
        u.due_at, u.touched, u.claim, $position as position, c.epoch as campaign_epoch, c.target, c.intent,
        coalesce(lag(u.version) over (partition by u.publisher_id order by $position), 0) as upstream_version
    from units u join campaigns c on c.id = u.campaign_id
    where u.publisher_id = any(cast(:publishers as bigint[]))
), judged as (
    select *, epoch = campaign_epoch and not earlier
        and (consumed = upstream_version or position = $submission) as current
    from versions
), chain as (
    select *,
        coalesce(case
            when position <= $submission then bool_and(state = 'succeeded' and current) over upstream
            else bool_and(position < $submission or (state = 'succeeded' and current)) over upstream
        end, true) as open,
        coalesce(bool_or(state = 'rejected' and current) over upstream, false) as rejected_above
    from judged
    window upstream as (partition by publisher_id order by position rows between unbounded preceding and 1 preceding)
)
""",
    position=_POSITION,
    submission=str(list(Stage).index(Stage.SUBMISSION)),
)
"""CTEs over the units of `:publishers`; `chain` has one row a unit with position, current, open and rejected_above."""
