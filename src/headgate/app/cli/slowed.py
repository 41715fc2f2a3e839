"""What limits a job's speed, for those who watch it."""

import asyncio

from headgate.app.cli.gate_shapes import micros, wait_in_words
from headgate.app.settings import Settings
from headgate.core.configured import Configured
from headgate.core.errors import HeadgateError
from headgate.engine.gate_reading import GateReading
from headgate.engine.job_gates import JobGates
from headgate.engine.why import Wait, at_gate, binding

PATIENCE_S = 2.0


def configured(settings: Settings) -> Configured:
    """What the settings say of gates."""
    return Configured(settings.providers, settings.gates)


def limiting(reading: GateReading) -> Wait | None:
    """The wait at the gate that decides a job's speed, if there is one."""
    held = binding(reading.views)
    return at_gate(held) if held else None


async def read_if_there(gates: JobGates) -> GateReading | None:
    """The gates of a job; None where the ledger does not answer in time."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await gates.read()
    except (HeadgateError, TimeoutError):
        return None  # whoever works with it will say what is wrong


async def slowed_by(gates: JobGates) -> str:
    """`limited by wikidata: the learned rate, 4.9/s`, or nothing."""
    reading = await read_if_there(gates)
    wait = limiting(reading) if reading else None
    if reading is None or wait is None:
        return ""
    others = sum(view.holds for view in reading.views) - 1
    more = f" (and {others} other gates)" if others > 0 else ""
    return f"limited by {wait_in_words(wait, micros(reading.now_s))}{more}"
