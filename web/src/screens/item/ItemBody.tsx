import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type ItemWhole, isOpen } from "../../api";
import { CopyButton, grouped, StatusBadge, Time } from "../../design";
import { Attempts } from "./Attempts";
import styles from "./ItemBody.module.css";
import { attemptsInWords, curlOfApi } from "./model";
import { Value } from "./Value";
import { WhyWaiting } from "./WhyWaiting";

export function ItemBody({ item }: { item: ItemWhole }) {
  return (
    <div className={styles.body}>
      <Facts item={item} />
      <WhyWaiting item={item} />
      {item.lastError && !isOpen(item) && (
        <p className={styles.reason} data-failed={item.status === "ERROR" || undefined}>
          {item.errorClass && <strong>{item.errorClass}: </strong>}
          {item.lastError}
        </p>
      )}
      {item.decision && <p className={styles.reason}>{item.decision}</p>}
      {item.status === "REVIEW" && (
        <p>
          <Link to="/review" search={{ job: item.jobId, item: item.id }}>
            Review this item
          </Link>
        </p>
      )}
      <Part title="Result">
        <Value value={item.result} />
      </Part>
      <Part title="Input">
        <Value value={item.input} />
      </Part>
      {item.normalized !== null && (
        <Part title="Normalized">
          <Value value={item.normalized} />
        </Part>
      )}
      <Part title={attemptsInWords(item.attempts, item.history)}>
        <Attempts item={item} />
      </Part>
    </div>
  );
}

function Facts({ item }: { item: ItemWhole }) {
  const path = `/api/items/${encodeURIComponent(item.id)}`;
  return (
    <div className={styles.facts}>
      <StatusBadge status={item.status} />
      <span>
        <Link to="/jobs/$jobId" params={{ jobId: item.jobId }}>
          Job {item.jobId}
        </Link>
        , line {grouped(item.line)}
      </span>
      <span>
        Updated <Time at={item.updatedAt} />
      </span>
      <span>Item {item.id}</span>
      <CopyButton
        text={curlOfApi(globalThis.location.origin, path)}
        label="Copy as curl: the request for this item"
      >
        Copy as curl
      </CopyButton>
      {item.suspect && <span>Isolated: this row crashed a worker.</span>}
      {item.crashes > 0 && <span>{grouped(item.crashes)} crashes</span>}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.part}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}
