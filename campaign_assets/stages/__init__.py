"""The eight stage bodies, one module each, named as the asset: a claimed unit goes in, an outcome comes out.

No SQL, no Dagster, no clock for deadlines: what a body needs beyond its unit it gets as `tools.Tools`.
"""
