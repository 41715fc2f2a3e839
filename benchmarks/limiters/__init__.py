"""How the client fares at limiters that people really run: nginx and HAProxy, over loopback.

Each run starts a server with a limit, lets one contender work against it from a cold start for two
minutes, and reads from the server's own log what it took and what it refused.
"""
