"""The language a page is written in: by its words where there are enough, else as it says itself."""

from __future__ import annotations

from campaign_assets.stages.page import Page

_ENOUGH = 200


def language_of(page: Page) -> str:
    """Two letters, or nothing where nobody can tell. Words beat the declaration: templates keep `lang="en"`
    for years.
    """
    text = page.text[:2000]
    if len(text) < _ENOUGH:
        return page.declared_language
    import py3langid  # its model costs half a second; most runs need it once

    language, _ = py3langid.classify(text)
    return str(language)
