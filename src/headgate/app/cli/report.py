"""`headgate report`: reports on a job, to be shared with the operators of services."""

import msgspec

from headgate.app.cli.options import JobId, Json
from headgate.app.cli.render.times import local_time, span
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.core.call import decode_calls
from headgate.core.job import Job
from headgate.core.politeness import Conduct, Politeness
from headgate.core.time_text import moment
from headgate.core.words import counted
from headgate.ports.reads import ReadStore

app = noun("report", "Report what a job has done.")

PAGE = 2_000


@command(
    app,
    "politeness",
    ["headgate report politeness 3", "headgate report politeness 3 --json | jq '.providers[0]'"],
)
async def politeness(cli: CliContext, job_id: JobId, as_json: Json = False) -> None:
    """Show the load that a job has put on each provider: requests, peaks, refusals, waits."""
    async with cli.store() as store:
        job = await store.reads.job(job_id)
        conducts = await conducts_of(store.reads, job_id)
    if as_json:
        cli.screen.json({"job_id": job_id, "providers": [conduct_json(each) for each in conducts]})
        return
    if not conducts:
        cli.screen.say(f"job {job_id} has sent no requests through `ctx.http` yet")
        return
    _print(cli, job, conducts)


async def conducts_of(reads: ReadStore, job_id: int) -> list[Conduct]:
    account = Politeness()
    page = await reads.calls(job_id, 0, PAGE)
    while page.next_after_id is not None:
        for text in page.texts:
            for call in decode_calls(text):
                account.add(call)
        page = await reads.calls(job_id, page.next_after_id, PAGE)
    return account.conducts()


def conduct_json(conduct: Conduct) -> dict[str, object]:
    shape = msgspec.to_builtins(conduct)
    first, last = shape.pop("first_us"), shape.pop("last_us")
    return {
        **shape,
        "first": moment(first or None),
        "last": moment(last or None),
        "refused_share": round(conduct.refused_share, 6),
    }


def _print(cli: CliContext, job: Job, conducts: list[Conduct]) -> None:
    screen = cli.screen
    screen.line(f"Politeness of job {job.id}, {job.name}", "bold")
    for conduct in conducts:
        screen.line(f"\n{conduct.name}", "bold")
        screen.facts(_facts(conduct))


def _facts(conduct: Conduct) -> dict[str, str]:
    share = f"{conduct.refused_share:.2%}"
    first, last = local_time(conduct.first_us or None), local_time(conduct.last_us or None)
    waited_s = conduct.waited_s / max(conduct.requests, 1)
    facts = {
        "requests": f"{conduct.requests:,} ({conduct.bytes / 1e6:,.1f} MB received)",
        "between": f"{first} and {last}",
        "rate": (
            f"{conduct.mean_per_s:,.2f}/s on average; at most {conduct.peak_per_s:,} in a second"
            f" and {conduct.peak_per_min:,} in a minute"
        ),
        "refused": f"{conduct.refused:,} ({share} of requests; 429 and similar)",
        "no answer": f"{conduct.failed:,}",
        "saved by cache": (
            f"{conduct.confirmed:,} confirmed by 304, {conduct.spared:,} answered by the cache"
        ),
        "paused": f"{span(conduct.honouring_s)} because the server asked us to wait",
        "waited at gates": f"{span(waited_s)} per request on average",
    }
    if conduct.barred:
        facts["robots.txt"] = f"not allowed, so not sent: {counted(conduct.barred, 'request')}"
    return facts
