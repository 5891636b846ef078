// What `compact` may be asked.
import type { RangeBound } from "../../core/conversation/range-bound.ts";
import type { CompactInput } from "../plan/compact-plan.ts";
import type { SummaryRequest } from "../summary/summary-request.ts";

/** What the user asked for, and how it is stored. What is said of a summary counts only where one is to be written. */
export interface CompactRequest extends CompactInput, Omit<SummaryRequest, "force"> {
  readonly dryRun: boolean;
  /** Where the summary begins that a pipeline goes on to; absent = where the pipeline's own steps do. */
  readonly summaryFrom?: RangeBound;
  /** Commit on a new fork; absent = as configured (`fork`). */
  readonly fork?: boolean;
  /** Make that fork active. */
  readonly activate: boolean;
  /** What an accepted summary was written for; refused when it no longer fits. */
  readonly expects?: { readonly covers: string };
}
