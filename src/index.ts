// The public API: the domain's values and functions. The command uses the same functions.

export type { Compaction, Summary, ToolCallPolicy } from "./core/conversation/compaction.ts";
export { formatCompactionLine, parseCompactionLine } from "./core/conversation/compaction-line.ts";
export { checkCoverage } from "./core/conversation/coverage.ts";
export type { Event, EventKind, Origin, ProjectedTurn, View } from "./core/conversation/event.ts";
export { splitTurns, type Turn } from "./core/conversation/event.ts";
export { type ProjectionOptions, project, projectTurns } from "./core/conversation/projection.ts";
export { estimateView } from "./core/conversation/token-estimate.ts";
export { formatEventLine, parseEventLine } from "./core/conversation/turn-file.ts";
export { type ErrorKind, JpgError } from "./core/errors.ts";
