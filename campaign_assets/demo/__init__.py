"""The demo: one campaign on the local sandbox web, from an empty home to a report, in an installation of its own."""
