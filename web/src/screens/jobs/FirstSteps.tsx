import { Link, useNavigate } from "@tanstack/react-router";
import { useCreateJob } from "../../api";
import { Button, Command, EmptyState, useToasts } from "../../design";
import styles from "./FirstSteps.module.css";
import { SAMPLE_JOB } from "./sample";

/** There is no job yet: how to make the first one, here or in a shell. */
export function FirstSteps({ mayWrite }: { mayWrite: boolean }) {
  if (!mayWrite) {
    return (
      <EmptyState title="There are no jobs yet">
        <p>As a viewer you see jobs once somebody has made them for you.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="There are no jobs yet">
      <p>
        A job is a batch of rows, each of which is sent through a handler: as fast as the services
        behind it allow, and no row twice.
      </p>
      <div className={styles.steps}>
        <section>
          <h3>Look first</h3>
          <p>A sample of words. It needs no service and no network.</p>
          <SampleButton />
        </section>
        <section>
          <h3>Bring your own rows</h3>
          <p>Drop a CSV, XLSX, JSONL or Parquet file and choose what is done with each row.</p>
          <Link to="/jobs/new">New job</Link>
        </section>
        <section>
          <h3>From a shell</h3>
          <p>A handler is a function in a file of yours.</p>
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
      look="primary"
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
