import type { JobFromSource } from "../../api";

const WORDS =
  "anchor basin brook canal cascade channel creek culvert current dam delta ditch dock drain " +
  "eddy estuary ferry flood flume ford fountain gate glacier gorge gulf harbour haven inlet " +
  "island jetty kayak lagoon lake levee lock marsh meander mill moat moor oasis ocean pier " +
  "pond pool quay rain rapids reef reservoir ripple river runnel sea sluice snow source spring " +
  "strait stream surf swamp tide torrent tributary valve wade water waterfall wave weir well";

/** Sample rows: most are words, and some show other outcomes. */
export const SAMPLE_JOB: JobFromSource = {
  handler: "sample.words",
  name: "Sample: letters of words",
  key: ["word"],
  items: [...WORDS.split(" "), "bank", "bow", "1984", "42", "zzz", "qqq", "a b"].map((word) => ({
    word,
  })),
};
