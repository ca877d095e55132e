"""The eight stages as assets, one publisher a partition. What a stage does is in `stages/`, what it may cost
in `policy.py`.
"""

from campaign_assets.graph import stage_asset
from campaign_assets.io_manager import Mapped, Pages


@stage_asset(kinds={"python", "http"})
def discovery(pages: Pages) -> Mapped:
    """A candidate from a source becomes a known publisher: reachable, allowed by robots.txt, with its submit
    page.
    """
    from campaign_assets.stages.discovery import discovery as body

    return pages.map(body)


@stage_asset(kinds={"python"})
def scoring(pages: Pages) -> Mapped:
    """A publisher gets a score with its reasons, or is rejected below the campaign's bar."""
    from campaign_assets.stages.scoring import scoring as body

    return pages.map(body)


@stage_asset(kinds={"playwright"})
def form_mapping(pages: Pages) -> Mapped:
    """The submit form is read; each control gets a profile field, or is left alone."""
    from campaign_assets.stages.form_mapping import form_mapping as body

    return pages.map(body)


@stage_asset(kinds={"python"})
def content(pages: Pages) -> Mapped:
    """Title, descriptions and tags are written for this publisher, within its form's limits."""
    from campaign_assets.stages.content import content as body

    return pages.map(body)


@stage_asset(kinds={"python", "http"})
def preflight(pages: Pages) -> Mapped:
    """The exact payload is assembled and checked; an existing listing is looked for. Waits for a person where
    one is needed.
    """
    from campaign_assets.stages.preflight import preflight as body

    return pages.map(body)


@stage_asset(kinds={"playwright"})
def submission(pages: Pages) -> Mapped:
    """The form is filed on somebody else's website: at most once. Never retried by Dagster."""
    from campaign_assets.stages.submission import submission as body

    return pages.map(body)


@stage_asset(kinds={"python", "http"})
def confirmation(pages: Pages) -> Mapped:
    """The listing is found live; or it is pending, or was refused."""
    from campaign_assets.stages.confirmation import confirmation as body

    return pages.map(body)


@stage_asset(kinds={"python", "http"})
def monitoring(pages: Pages) -> Mapped:
    """The link is checked again and again: present, its rel, indexable, the same name, address and phone."""
    from campaign_assets.stages.monitoring import monitoring as body

    return pages.map(body)


STAGES = [discovery, scoring, form_mapping, content, preflight, submission, confirmation, monitoring]
