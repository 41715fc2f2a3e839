"""Files with several typed tables: SQLite and DuckDB."""
