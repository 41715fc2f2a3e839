import type { ReactNode } from "react";
import { type Job, useErrors } from "../../../api";
import { Button, grouped, SearchField, Select, statusStyle, Toolbar } from "../../../design";
import { useFilter } from "../../../shell/urlState";
import styles from "./GridFilters.module.css";
import { classesIn } from "./model";

const ORDERS = [
  { value: "", label: "Input order" },
  { value: "updated", label: "Longest unchanged first" },
];

interface Filters {
  statuses?: string | undefined;
  q?: string | undefined;
  errorClass?: string | undefined;
  signature?: string | undefined;
  order?: string | undefined;
}

/** Filters of the items of a job. */
export function GridFilters({
  job,
  filters,
  children,
}: {
  job: Job;
  filters: Filters;
  children?: ReactNode;
}) {
  const setFilter = useFilter();
  const { q, errorClass, order } = filters;
  const found = classesIn(useErrors(job.id).data ?? []);
  const classes = [
    { value: "", label: "Any error class" },
    ...found.map(({ name, count }) => ({ value: name, label: `${name} (${grouped(count)})` })),
  ];
  if (errorClass && !found.some(({ name }) => name === errorClass)) {
    classes.push({ value: errorClass, label: errorClass });
  }
  return (
    <Toolbar label="Filter items">
      <SearchField
        label="Search items"
        placeholder="Key or row"
        value={q ?? ""}
        onSearch={(text) => setFilter({ q: text })}
      />
      {classes.length > 1 && (
        <Select
          label="Error class"
          hideLabel
          options={classes}
          value={errorClass ?? ""}
          onChoose={(value) => setFilter({ errorClass: value })}
        />
      )}
      <Select
        label="Order"
        hideLabel
        options={ORDERS}
        value={order ?? ""}
        onChoose={(value) => setFilter({ order: value })}
      />
      {children}
      <Chips filters={filters} />
    </Toolbar>
  );
}

/** Active filters, each with a button to remove it. */
function Chips({ filters }: { filters: Filters }) {
  const setFilter = useFilter();
  const { statuses, q, errorClass, signature } = filters;
  const chips: [string, string][] = [];
  if (statuses) {
    const words = statuses.split(",").map((status) => statusStyle(status).label);
    chips.push(["statuses", words.join(", ")]);
  }
  if (errorClass) chips.push(["errorClass", `Error class: ${errorClass}`]);
  if (signature) chips.push(["signature", `Message: ${signature}`]);
  if (q) chips.push(["q", `“${q}”`]);
  if (chips.length === 0) return null;
  return (
    <ul className={styles.chips} aria-label="Filters">
      {chips.map(([name, text]) => (
        <li key={name}>
          <Button
            icon="cross"
            className={styles.chip}
            title={`Remove filter: ${text}`}
            onClick={() => setFilter({ [name]: undefined })}
          >
            <span className={styles.text}>{text}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
