"""The web UI in a real browser, over a real server."""
