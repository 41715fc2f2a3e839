import type { Worker } from "../../api";
import { Ago, Badge, Button, type Column, grouped, useNow } from "../../design";
import { mayDrain, statusOfWorker } from "./model";

export function columnsOf(drain: (worker: Worker) => void): Column<Worker>[] {
  return [
    {
      id: "state",
      header: "State",
      width: 124,
      grow: 0,
      phone: true,
      cell: (row) => <State worker={row} />,
    },
    { id: "host", header: "Host and process", width: 112, grow: 3, phone: true, cell: host },
    { id: "id", header: "Worker", width: 130, grow: 3, cell: name },
    { id: "version", header: "Version", width: 80, grow: 0, cell: (row) => row.version },
    {
      id: "running",
      header: "Running items",
      width: 116,
      grow: 0,
      align: "end",
      cell: (row) => grouped(row.running),
    },
    { id: "claim", header: "Claim size", width: 96, grow: 0, align: "end", cell: claimSize },
    {
      id: "beat",
      header: "Heartbeat",
      width: 96,
      grow: 0,
      cell: (row) => <Ago at={row.beatAt} />,
    },
    {
      id: "started",
      header: "Started",
      width: 96,
      grow: 0,
      cell: (row) => <Ago at={row.registeredAt} />,
    },
    {
      id: "drain",
      header: "Actions",
      hideHeader: true,
      width: 132,
      grow: 0,
      align: "end",
      phone: true,
      cell: (row) =>
        mayDrain(row) && (
          <Button
            variant="quiet"
            icon="stop"
            aria-label={`Drain ${row.id}`}
            onClick={() => drain(row)}
          >
            Drain…
          </Button>
        ),
    },
  ];
}

function State({ worker }: { worker: Worker }) {
  const { tone, icon, word, about } = statusOfWorker(worker, useNow());
  return (
    <Badge tone={tone} icon={icon} title={about}>
      {word}
    </Badge>
  );
}

function host({ host: where, pid }: Worker) {
  return (
    <span title={`Process ${pid} on ${where}`}>
      {where} · {pid}
    </span>
  );
}

function name({ id }: Worker) {
  return <span title={id}>{id}</span>;
}

function claimSize({ claimSize: size }: Worker) {
  return <span title="Items per claim">{size ? grouped(size) : "–"}</span>;
}
