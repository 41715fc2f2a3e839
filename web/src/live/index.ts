export { LiveProvider, useLive, useLiveJob, useNews } from "./LiveProvider";
export type { Counters, GateNews, News } from "./news";
