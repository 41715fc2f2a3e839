import type { ITEM_STATUSES, JOB_STATES } from "./moves";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type JobState = (typeof JOB_STATES)[number];
export type ItemStatus = (typeof ITEM_STATUSES)[number];
export type Role = Schemas["Me"]["role"];

export type AcrossRequest = Schemas["AcrossRequest"];
export type About = Schemas["About"];
export type Attempt = Schemas["AttemptView"];
export type Call = Schemas["CallView"];
export type Checkpoint = Schemas["CheckpointView"];
export type Counts = Schemas["CountsView"];
export type Difference = Schemas["DifferenceView"];
export type ErrorGroup = Schemas["ErrorGroupView"];
export type Eta = Schemas["Eta"];
export type Event = Schemas["EventView"];
export type Export = Schemas["ExportView"];
export type FieldOfRows = Schemas["FieldView"];
export type Gate = Schemas["Gate"];
export type Gates = Schemas["GateList"];
export type GateChange = Schemas["GateChangeRequest"];
export type GatePoint = Schemas["GatePoint"];
export type Handler = Schemas["HandlerView"];
export type Health = Schemas["HealthView"];
export type Item = Schemas["ItemView"];
export type ItemWhole = Schemas["ItemWhole"];
export type Job = Schemas["JobDetail"];
export type JobFromSource = Schemas["JobFromSource"];
export type Me = Schemas["Me"];
export type Mirror = Schemas["MirrorView"];
export type MirrorDetail = Schemas["MirrorDetail"];
export type MirrorRow = Schemas["RowView"];
export type MirrorRowDetail = Schemas["RowDetail"];
export type NewToken = Schemas["NewTokenView"];
export type NextPassRequest = Schemas["NextPassRequest"];
export type Oldest = Schemas["Oldest"];
export type OldestAtProvider = Schemas["OldestAtProvider"];
export type OldestOfJob = Schemas["OldestOfJob"];
export type Pass = Schemas["PassView"];
export type PassReport = Schemas["PassReport"];
export type Preview = Schemas["Preview"];
export type Reading = Schemas["ReadingView"];
export type ReplayRequest = Schemas["ReplayRequest"];
export type ReprocessRequest = Schemas["ReprocessRequest"];
export type RowChange = Schemas["RowChangeView"];
export type Session = Schemas["SessionView"];
export type Stream = Schemas["StreamView"];
export type SourcePassRequest = Schemas["SourcePassRequest"];
export type System = Schemas["System"];
export type Token = Schemas["TokenView"];
export type TokenRequest = Schemas["TokenRequest"];
export type User = Schemas["UserView"];
export type UserRequest = Schemas["UserRequest"];
export type UserChange = Schemas["UserChangeRequest"];
export type Wait = Schemas["WaitView"];
export type Why = Schemas["Why"];
export type Worker = Schemas["WorkerView"];

/** A stream and the mirror that it belongs to. */
export interface StreamPlace {
  mirrorId: string;
  streamId: string;
}

/** One page of a list, and the cursor of the next one. */
export interface Page<T> {
  items: T[];
  next: string | null;
}
