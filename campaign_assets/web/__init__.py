"""Everything that touches somebody else's website: guard, fetcher, browser, form model; playwright's only home."""
