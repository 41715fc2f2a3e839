import { Link } from "@tanstack/react-router";
import { type MirrorRowDetail, type StreamPlace, useRow } from "../../api";
import {
  Badge,
  Button,
  CopyButton,
  Drawer,
  ErrorState,
  Fact,
  Facts,
  Loading,
  Time,
  useKey,
} from "../../design";
import { Value } from "../item/Value";
import { FieldChanges } from "./FieldChanges";
import { historyOf, KINDS, type RowEvent } from "./model";
import styles from "./RowDrawer.module.css";

/** One row with its body and the history of its changes. */
export function RowDrawer({
  place,
  rowId,
  onClose,
  onNext,
  onPrevious,
}: {
  place: StreamPlace;
  rowId: string;
  onClose: () => void;
  /** Undefined at the end of the list. */
  onNext?: () => void;
  onPrevious?: () => void;
}) {
  const row = useRow(place, rowId);
  useKey("j", "Next row", () => onNext?.(), { inDialog: true });
  useKey("k", "Previous row", () => onPrevious?.(), { inDialog: true });
  return (
    <Drawer
      title={`Row ${rowId}`}
      onClose={onClose}
      actions={
        <>
          <Button
            variant="quiet"
            icon="chevronUp"
            aria-label="Previous row (k)"
            disabled={!onPrevious}
            onClick={onPrevious}
          />
          <Button
            variant="quiet"
            icon="chevronDown"
            aria-label="Next row (j)"
            disabled={!onNext}
            onClick={onNext}
          />
        </>
      }
    >
      {row.error ? (
        <ErrorState error={row.error} retry={() => void row.refetch()} />
      ) : row.data ? (
        <RowBody row={row.data} mirrorId={place.mirrorId} />
      ) : (
        <Loading label="Loading row" />
      )}
    </Drawer>
  );
}

function RowBody({ row, mirrorId }: { row: MirrorRowDetail; mirrorId: string }) {
  return (
    <div className={styles.parts}>
      {row.deletedAt && (
        <p className={styles.deleted}>
          Deleted: found <Time at={row.deletedAt} />.
        </p>
      )}
      <Facts variant="tiles">
        <Fact name="Id">
          {row.rowId} <CopyButton text={row.rowId} label="Copy id" />
        </Fact>
        {row.parent !== null && <Fact name="Parent">{row.parent}</Fact>}
        <Fact name="Updated at source">{row.updated ?? "–"}</Fact>
        <Fact name="First seen">
          <Time at={row.firstAt} />
        </Fact>
        <Fact name="Last changed">
          <Time at={row.changedAt} />
        </Fact>
        <Fact name="Last seen in">
          <PassLink mirrorId={mirrorId} passId={row.seenPass} />
        </Fact>
      </Facts>
      <section>
        <h3>Body</h3>
        <Value value={row.body} />
      </section>
      <section>
        <h3>History</h3>
        <ol className={styles.history}>
          {historyOf(row).map((event) => (
            <Event
              key={`${event.kind} ${event.passId} ${event.at}`}
              event={event}
              mirrorId={mirrorId}
            />
          ))}
        </ol>
      </section>
    </div>
  );
}

function Event({ event, mirrorId }: { event: RowEvent; mirrorId: string }) {
  const { label, tone, icon } = KINDS[event.kind];
  return (
    <li>
      <div className={styles.head}>
        <Badge tone={tone} icon={icon}>
          {label}
        </Badge>
        <Time at={event.at} />
        {event.passId && <PassLink mirrorId={mirrorId} passId={event.passId} />}
      </div>
      {event.changes && event.changes.length > 0 && <FieldChanges changes={event.changes} />}
      {event.kind === "changed" && event.changes === null && (
        <p className={styles.quiet}>The body before this change is not stored.</p>
      )}
    </li>
  );
}

export function PassLink({ mirrorId, passId }: { mirrorId: string; passId: string }) {
  return (
    <Link to="/mirrors/$mirrorId" params={{ mirrorId }} search={{ tab: "passes", pass: passId }}>
      Pass {passId}
    </Link>
  );
}
