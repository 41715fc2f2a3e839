import { Badge } from "../../design";
import type { Verdict } from "./model";

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  return (
    <Badge tone={verdict.tone} icon={verdict.icon} title={verdict.help}>
      {verdict.label}
    </Badge>
  );
}
