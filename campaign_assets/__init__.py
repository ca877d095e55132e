"""A Dagster project that lists a business on hundreds of directory websites, one publisher at one stage at a time."""
