export { LiveProvider, useLive, useLiveJob, useLiveMessage } from "./LiveProvider";
export type { Counters, GateMessage, LiveMessage } from "./messages";
