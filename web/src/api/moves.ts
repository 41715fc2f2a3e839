// Drawn by `npm run schema` from the program's own tables.
export const JOB_STATES = ["INGESTING", "QUEUED", "RUNNING", "PAUSED", "DONE", "FAILED", "CANCELLED"] as const;
export const ITEM_STATUSES = ["PENDING", "PROCESSING", "DONE", "NOT_FOUND", "SKIPPED", "REVIEW", "ERROR", "CANCELLED"] as const;
export const FAULT_CLASSES = ["transient", "throttled", "deferred", "permanent", "timeout", "stalled", "crashed", "poison", "invalid_result", "bad_row"] as const;
export const UNFINISHED = ["INGESTING", "QUEUED", "RUNNING", "PAUSED"] as const;
export const JOB_MOVES = {"reopen_ingest": ["DONE", "FAILED", "QUEUED", "RUNNING"], "ingested": ["INGESTING"], "start": ["QUEUED"], "pause": ["INGESTING", "QUEUED", "RUNNING"], "resume_ingest": ["PAUSED"], "resume": ["PAUSED"], "finish": ["QUEUED", "RUNNING"], "fail": ["INGESTING", "PAUSED", "QUEUED", "RUNNING"], "cancel": ["INGESTING", "PAUSED", "QUEUED", "RUNNING"], "reprocess": ["CANCELLED", "DONE", "FAILED"]} as const;
export const ITEM_MOVES = {"claim": ["PENDING"], "finish": ["PROCESSING"], "miss": ["PROCESSING"], "skip": ["PROCESSING"], "ask": ["PROCESSING"], "fail": ["PROCESSING"], "retry": ["PROCESSING"], "hand_back": ["PROCESSING"], "cancel": ["PENDING", "PROCESSING"], "accept": ["REVIEW"], "reject": ["REVIEW"], "pass_over": ["REVIEW"], "requeue": ["CANCELLED", "DONE", "ERROR", "NOT_FOUND", "REVIEW", "SKIPPED"]} as const;
