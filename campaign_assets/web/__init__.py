"""Everything that touches somebody else's website: network guard, fetcher, browser, form model. The only home of playwright."""
