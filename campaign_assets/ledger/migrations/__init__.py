"""Frozen history: the SQL that made each version of the ledger. Never edited once released."""
