"""The running machinery: knows when, never how stored or what is fetched."""
