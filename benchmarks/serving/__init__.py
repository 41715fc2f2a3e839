"""The server from outside: each module measures one thing and prints one JSON line."""
