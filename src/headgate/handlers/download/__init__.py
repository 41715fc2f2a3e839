"""`download`: identifiers become plans, and plans become verified files."""
