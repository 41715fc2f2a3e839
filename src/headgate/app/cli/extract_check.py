"""`headgate extract check` and `--dry-run`: ask for one page of each stream, store no row."""

from collections.abc import Sequence
from typing import Any

import msgspec

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.render.times import span, volume
from headgate.app.cli.runtime import CliContext
from headgate.app.extract.opening import OpenedSource
from headgate.app.extract.sampling import SampledPass
from headgate.app.settings import Settings
from headgate.core.mirror import Proof
from headgate.core.pass_forecast import StreamFacts, StreamForecast, forecast, seconds_for
from headgate.core.words import agreeing, counted
from headgate.engine.passes import PassOrder
from headgate.handlers.extract.sample import StreamSample

UNKNOWN = "?"


async def check_source(
    cli: CliContext, settings: Settings, source: OpenedSource, order: PassOrder, *, as_json: bool
) -> Exit:
    """Log in, ask for one page of each stream, and print what is wrong."""
    async with cli.store(settings, create=True) as store:
        _, samples = await SampledPass(source, settings, store).take(order, cli.clock)
    bad = [each for each in samples if each.problem]
    code = Exit.PROBLEMS if bad else Exit.OK
    if as_json:
        shapes = [msgspec.to_builtins(each) for each in samples]
        cli.screen.json({"mirror": source.mirror, "streams": shapes, "exit": int(code)})
        return code
    cli.screen.table(
        ("STREAM", "PAGING", "#ROWS", "#TOTAL", "PROOF", "ANSWER"),
        [
            (
                each.stream,
                _paging(each),
                each.rows if each.is_asked and not each.problem else None,
                UNKNOWN if each.total is None else each.total,
                "" if each.problem or not each.is_asked else each.proof,
                _answer(each),
            )
            for each in samples
        ],
    )
    print_advice(cli, samples)
    streams = counted(len(samples), "stream")
    if bad:
        cli.screen.say(f"{len(bad)} of {streams} cannot be listed; nothing was stored", "bold")
    else:
        asked = agreeing(len(samples), "answers", "answer")
        cli.screen.say(f"{streams} {asked} as described; nothing was stored", "bold")
    return code


async def show_forecast(
    cli: CliContext, settings: Settings, source: OpenedSource, order: PassOrder, *, as_json: bool
) -> Exit:
    """Print the requests, the time and the disk that a pass would need."""
    async with cli.store(settings, create=True) as store:
        sampled = SampledPass(source, settings, store)
        plan, samples = await sampled.take(order, cli.clock)
        per_s = await sampled.requests_per_s()
    forecasts = forecast([_facts(each) for each in samples])
    workers = settings.worker.concurrency
    modes = {each.stream: each.mode for each in plan.checkpoints}
    answers = [each.seconds for each in samples if each.seconds and not each.problem]
    answer_s = sum(answers) / len(answers) if answers else 0.0
    times = [_seconds(each, workers, answer_s, per_s) for each in forecasts]
    code = Exit.PROBLEMS if any(each.problem for each in samples) else Exit.OK
    if as_json:
        shapes = [
            {**msgspec.to_builtins(sample), **made._asdict(), "mode": modes[made.name], "time_s": s}
            for sample, made, s in zip(samples, forecasts, times, strict=True)
        ]
        limit = {"requests_per_s": per_s, "workers": workers}
        cli.screen.json({"mirror": source.mirror, **limit, "streams": shapes, "exit": int(code)})
        return code
    cli.screen.table(
        ("STREAM", "MODE", "PAGING", "PROOF", "#ROWS", "#REQUESTS", "#TIME", "#DISK"),
        [
            (
                made.name,
                modes[made.name],
                _paging(sample),
                "" if sample.problem else sample.proof,
                _known(made.rows),
                _known(made.requests),
                UNKNOWN if seconds is None else span(seconds),
                UNKNOWN if made.bytes is None else volume(made.bytes),
            )
            for sample, made, seconds in zip(samples, forecasts, times, strict=True)
        ],
    )
    print_advice(cli, samples)
    cli.screen.say(_total(forecasts, workers, answer_s, per_s), "bold")
    return code


def print_advice(cli: CliContext, samples: Sequence[StreamSample]) -> None:
    """What is wrong with a stream, and what would make it provable."""
    for each in samples:
        if each.problem:
            cli.screen.fail(f"{each.stream} cannot be listed: {each.problem}")
        if each.is_asked and not each.problem and each.proof is Proof.UNPROVEN:
            cli.screen.warn(
                f"{each.stream} cannot be proven complete, so nothing of it is ever deleted:"
                " describe its `order`, or where its total is (`total_path`, `total_header`)"
            )


def _facts(sample: StreamSample) -> StreamFacts:
    return StreamFacts(
        sample.stream,
        sample.parent,
        sample.total,
        sample.rows,
        sample.row_bytes,
        sample.has_detail,
    )


def _seconds(
    made: StreamForecast, workers: int, answer_s: float, per_s: float | None
) -> float | None:
    return None if made.requests is None else seconds_for(made.requests, workers, answer_s, per_s)


def _total(
    forecasts: Sequence[StreamForecast], workers: int, answer_s: float, per_s: float | None
) -> str:
    known = [each for each in forecasts if each.requests is not None]
    requests = sum(each.requests or 0 for each in known)
    size = sum(each.bytes or 0 for each in known)
    seconds = seconds_for(requests, workers, answer_s, per_s)
    least = "about" if len(known) == len(forecasts) else "at least"
    bound = f"at most {per_s:.3g} requests/s" if per_s is not None else "its limit is not known yet"
    return (
        f"{least} {counted(requests, 'request')}, {span(seconds)} with"
        f" {counted(workers, 'worker')} ({bound}), {volume(size)} on disk; nothing was stored"
    )


def _paging(sample: StreamSample) -> str:
    how = "" if sample.is_parallel or sample.paging == "single_page" else ", one after the other"
    return f"{sample.paging}{how}{f', for each of {sample.parent}' if sample.parent else ''}"


def _answer(sample: StreamSample) -> str:
    if sample.problem:
        return "cannot be listed"
    if not sample.is_asked:
        return f"not asked: {sample.parent} has no row"
    return f"ok, {span(sample.seconds)}"


def _known(value: int | None) -> Any:
    return UNKNOWN if value is None else value
