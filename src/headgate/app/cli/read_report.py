"""What a command says after it has read the rows of a file."""

from headgate.app.cli.screen import Screen
from headgate.app.cli.shapes import span
from headgate.core.words import agreeing, counted
from headgate.engine.ingest import IngestReport
from headgate.engine.rows import OnBadRow


def tell_read(screen: Screen, report: IngestReport, on_bad_row: OnBadRow) -> None:
    """How many rows were read, and what was odd about them."""
    known = f", {report.known:,} known already" if report.known else ""
    screen.say(f"read {counted(report.rows, 'row')} in {span(report.seconds)}{known}")
    if report.same:
        asks = agreeing(report.same, "asks", "ask")
        rows = f"{counted(report.same, 'row')} {asks} for the same as an earlier one"
        screen.say(f"{rows}; each is fetched once")
    for note in report.notes:
        screen.say(note)
    if report.changed:
        lines = ", ".join(str(line) for line in report.changed_lines)
        more = ", …" if report.changed > len(report.changed_lines) else ""
        screen.warn(
            f"{counted(report.changed, 'row')} changed since the job was made; the stored"
            f" values are kept (lines {lines}{more}). `--new` takes the file as it is now"
        )
    if report.dropped:
        was = agreeing(report.dropped, "was", "were")
        screen.say(f"{counted(report.dropped, 'bad row')} {was} mended or taken out of the file")
    for bad in report.bad_rows:
        screen.warn(str(bad))
    if report.bad:
        fate = "skipped" if on_bad_row is OnBadRow.SKIP else "kept as ERROR"
        screen.warn(f"{counted(report.bad, 'bad row')}, {fate}")
