"""Attacks on a running server, and what another user notices of them.

Each attack runs in a process of its own against a server of its own, on loopback, bounded in count
and time. Meanwhile a quiet user lists jobs and uploads one row, again and again; the memory of all
processes of the server is measured too.

A module holds one family of attacks as `ATTACKS`; `__main__` lists the modules.
"""
