import { Link, useNavigate } from "@tanstack/react-router";
import { useCreateJob } from "../../api";
import { Button, Command, EmptyState, useToasts } from "../../design";
import styles from "./FirstSteps.module.css";
import { SAMPLE_JOB } from "./model";

/** Shown before the first job: ways to create one. */
export function FirstSteps({ mayWrite }: { mayWrite: boolean }) {
  if (!mayWrite) {
    return (
      <EmptyState title="No jobs yet">
        <p>You have read-only access. Jobs appear here once an admin creates them for you.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No jobs yet">
      <p>
        A job runs every row of a file through a handler, once, as fast as the services behind it
        allow.
      </p>
      <div className={styles.steps}>
        <section>
          <h3>Try a sample</h3>
          <p>A small list of words. It needs no service and no network.</p>
          <SampleButton />
        </section>
        <section>
          <h3>Use your own file</h3>
          <p>Drop a CSV, XLSX, JSONL or Parquet file and choose a handler.</p>
          <Link to="/jobs/new">New job</Link>
        </section>
        <section>
          <h3>Use the command line</h3>
          <p>A handler is a Python function in your own file.</p>
          <Command>headgate run lookup.py:price products.csv</Command>
        </section>
      </div>
    </EmptyState>
  );
}

function SampleButton() {
  const create = useCreateJob();
  const navigate = useNavigate();
  const toasts = useToasts();
  return (
    <Button
      variant="primary"
      icon="play"
      busy={create.isPending}
      onClick={() =>
        create.mutate(SAMPLE_JOB, {
          onSuccess: (jobId) => void navigate({ to: "/jobs/$jobId", params: { jobId } }),
          onError: toasts.fail,
        })
      }
    >
      Run the sample
    </Button>
  );
}
