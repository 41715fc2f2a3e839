/**
 * Query keys, from general to specific, so that one prefix invalidates everything below it. Data of
 * a job is under ["job", id]; lists across jobs are under their own noun.
 */
export const keys = {
  me: ["me"],
  about: ["about"],
  health: ["health"],
  handlers: ["handlers"],
  jobs: ["jobs"],
  jobList: (filter: object) => ["jobs", filter],
  job: (id: string) => ["job", id],
  items: (id: string) => ["job", id, "items"],
  itemList: (id: string, filter: object) => ["job", id, "items", filter],
  errors: (id: string) => ["job", id, "errors"],
  exports: (id: string) => ["job", id, "exports"],
  gates: (id: string) => ["job", id, "gates"],
  history: (id: string) => ["job", id, "history"],
  log: (id: string) => ["job", id, "log"],
  item: (id: string) => ["item", id],
  why: (id: string) => ["item", id, "why"],
  pending: ["pending"],
  pendingList: (filter: object) => ["pending", filter],
  deadLetters: ["dead-letters"],
  deadLetterList: (filter: object) => ["dead-letters", filter],
  reviews: ["reviews"],
  reviewList: (filter: object) => ["reviews", filter],
  providers: ["providers"],
  workers: ["workers"],
  system: ["system"],
  users: ["users"],
  tokens: ["tokens"],
  allEvents: ["log"],
} as const;
