"""Pacing in virtual time: rules of clients against simulated providers, the same every run.

    python -m benchmarks.pacing study        does the simulator agree with the published study?
    python -m benchmarks.pacing insample     the 25 providers that rules were designed on
    python -m benchmarks.pacing heldout      three draws of 40 providers, seeded by the commit id
    python -m benchmarks.pacing recovery     a limit falls to a quarter and comes back
    python -m benchmarks.pacing warm         a remembered limit, right and four times too high
    python -m benchmarks.pacing robustness   lies, other tenants, pauses, costs, slow servers
    python -m benchmarks.pacing strays       refusals that no limit explains
    python -m benchmarks.pacing shared       four processes on one limit
    python -m benchmarks.pacing all          all of these
    python -m benchmarks.pacing draw SEED    one draw of 40 providers, one by one
    python -m benchmarks.pacing trace NAME   the course of one run, as CSV and SVG
    python -m benchmarks.pacing gallery      the pictures of the page about finding the limit

`--json FILE` keeps everything that was measured, `--jobs N` sets the number of processes (the
result does not depend on it), `--smoke` runs a sliver of everything. The command ends with 1 if a
figure misses its bound.

The model: the server works log-normally long (5 % below 50 ms, 5 % above 300 ms); the way there
takes 5 to 25 ms, the way back 3 to 12 ms; a refusal is back after 15 to 60 ms. An item keeps its
worker until it has succeeded. A ban is 30 s of refusals, for too many refusals within 10 s.
Goodput is a share of what an oracle achieves that knows the limit and is never refused. A
provider is clean if the goodput is at least 90 %, at most 1 % or at most ten of the requests were
refused, and there was no ban.

Held out means: no rule was designed on these providers. The three draws are seeded with the first,
second and third eight hex digits of the id of the last commit that changed our pacer or anything
in `headgate.core` that it imports, so a changed pacer is always judged on new providers.
"""
