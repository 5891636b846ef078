// The public API: a store, and the domain's values and functions. The command uses the same functions. docs/library.md says what
// is promised.

export type { CompactReport } from "./app/compact/compact-report.ts";
export type { DiffReport } from "./app/diff/diff.ts";
export type { ImportOutcome } from "./app/import/import.ts";
export type { ListRow } from "./app/look/list.ts";
export type { SearchHit } from "./app/look/search.ts";
export type { ShowCompaction, ShowConversation, ShowEvent, ShowReport } from "./app/look/show.ts";
export type { AppendReport, NewEvent } from "./app/manage/append-events.ts";
export type { ForkReport } from "./app/manage/fork.ts";
export type { RevertReport } from "./app/manage/revert.ts";

export type { Compaction, Summary, ToolCallPolicy } from "./core/conversation/compaction.ts";
export { formatCompactionLine, parseCompactionLine } from "./core/conversation/compaction-line.ts";
export { checkCoverage } from "./core/conversation/coverage.ts";
export type { Event, EventKind, Origin, ProjectedTurn, View } from "./core/conversation/event.ts";
export { splitTurns, type Turn } from "./core/conversation/event.ts";
export { type ProjectionOptions, project, projectTurns } from "./core/conversation/projection.ts";
export { estimateView } from "./core/conversation/token-estimate.ts";
export { formatEventLine, parseEventLine } from "./core/conversation/turn-file.ts";
export { type ErrorKind, JpgError } from "./core/errors.ts";
export {
  type Bound,
  type CompactOptions,
  type ExportOptions,
  type ForkOptions,
  type ImportOptions,
  type ListOptions,
  type OpenOptions,
  openStore,
  type SearchOptions,
  type Store,
} from "./library/store.ts";
