// The public API: values of the domain and the functions over them. The command is built on the same functions.

export type { Compaction, Summary, ToolCallPolicy } from "./core/compaction.ts";
export { formatCompactionLine, parseCompactionLine } from "./core/compaction-line.ts";
export { checkCoverage } from "./core/coverage.ts";
export { type ErrorKind, JpgError } from "./core/errors.ts";
export type { Event, EventKind } from "./core/event.ts";
export { formatEventLine, parseEventLine } from "./core/event-line.ts";
export { type ProjectionOptions, project, projectTurns } from "./core/projection.ts";
export { estimateView } from "./core/token-estimate.ts";
export { splitTurns, type Turn } from "./core/turn.ts";
export type { Origin, ProjectedTurn, View } from "./core/view.ts";
