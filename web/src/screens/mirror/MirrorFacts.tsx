import { type Job, type Mirror, type Pass, useJob } from "../../api";
import { Ago, duration, Fact, Facts, grouped } from "../../design";
import { Cause } from "../jobs/Cause";
import { leftOf, rateOf } from "../jobs/model";
import { isRunning, modeOf, rowsOf, startOf, sumsOf, verdictOf } from "../mirrors/model";
import { VerdictBadge } from "../mirrors/Verdict";
import { secondsOf } from "./model";

/** Rows of the mirror, and figures of its newest pass. */
export function MirrorFacts({ mirror }: { mirror: Mirror }) {
  const { newest } = mirror;
  return (
    <Facts variant="tiles">
      <Fact name="Rows">{grouped(rowsOf(mirror))}</Fact>
      {newest && <PassFacts pass={newest} />}
    </Facts>
  );
}

/** Figures of a pass. While it runs they say how fast, and what limits it. */
export function PassFacts({ pass }: { pass: Pass }) {
  const { pages, rows, added, changed } = sumsOf(pass);
  const took = secondsOf(pass);
  return (
    <>
      <Fact name="Proof">
        <VerdictBadge verdict={verdictOf(pass)} />
      </Fact>
      <Fact name="Pass">
        {pass.id}, {modeOf(pass)}
      </Fact>
      <Fact name="Rows seen">{grouped(rows)}</Fact>
      <Fact name="New">{grouped(added)}</Fact>
      <Fact name="Changed">{grouped(changed)}</Fact>
      <Fact name="Pages">{grouped(pages)}</Fact>
      <Fact name="Started">
        <Ago at={startOf(pass)} />
      </Fact>
      {isRunning(pass) && pass.job ? (
        <Pace jobId={pass.id} />
      ) : (
        <Fact name="Duration">{took === null ? "–" : duration(took)}</Fact>
      )}
    </>
  );
}

function Pace({ jobId }: { jobId: string }) {
  const job: Job | undefined = useJob(jobId).data;
  if (!job) return null;
  return (
    <>
      <Fact name="Page rate">{rateOf(job)}</Fact>
      <Fact name="Time left">{leftOf(job)}</Fact>
      <Fact name="Limited by">{job.limitedBy ? <Cause wait={job.limitedBy} /> : "–"}</Fact>
    </>
  );
}
