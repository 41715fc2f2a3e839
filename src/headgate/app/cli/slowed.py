"""What limits a job's speed, for those who watch it."""

from headgate.app.cli.gate_shapes import micros, wait_in_words
from headgate.app.settings import Settings
from headgate.core.configured import Configured
from headgate.engine.job_gates import JobGates
from headgate.engine.limiting import limiting, read_if_there


def configured(settings: Settings) -> Configured:
    """What the settings say of gates."""
    return Configured(settings.providers, settings.gates)


async def slowed_by(gates: JobGates) -> str:
    """`limited by wikidata: the learned rate, 4.9/s`, or nothing."""
    reading = await read_if_there(gates)
    wait = limiting(reading) if reading else None
    if reading is None or wait is None:
        return ""
    others = sum(view.holds for view in reading.views) - 1
    more = f" (and {others} other gates)" if others > 0 else ""
    return f"limited by {wait_in_words(wait, micros(reading.now_s))}{more}"
