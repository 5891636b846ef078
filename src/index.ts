// The public API: values of the domain and the functions over them. The command is built on the same functions.

export type { Compaction, Summary, ToolCallPolicy } from "./core/compaction/compaction.ts";
export { formatCompactionLine, parseCompactionLine } from "./core/compaction/compaction-line.ts";
export { checkCoverage } from "./core/coverage/coverage.ts";
export { type ErrorKind, JpgError } from "./core/errors.ts";
export type { Event, EventKind } from "./core/event/event.ts";
export { formatEventLine, parseEventLine } from "./core/event/event-line.ts";
export { splitTurns, type Turn } from "./core/event/turn.ts";
export { type ProjectionOptions, project, projectTurns } from "./core/projection/projection.ts";
export type { Origin, ProjectedTurn, View } from "./core/projection/view.ts";
export { estimateView } from "./core/tokens/token-estimate.ts";
