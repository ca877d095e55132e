"""The sandbox: a local web of directories that behave as real ones do, for the demo and for tests.

A process of its own that answers for any host name over http and https. It stands aside: of the product it imports
nothing but errors. `parts` are the words, `kinds` what a directory may be, `sites` who is what, `api` what it tells.
"""

from campaign_assets.sandbox.server import Address, run, serve
from campaign_assets.sandbox.sources import demo_sources

__all__ = ["Address", "demo_sources", "run", "serve"]
