// What may be said about a summary that is to be written, beside what the plan says.
import type { Injection } from "../../core/conversation/compaction.ts";
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { OpenedModel } from "../models/models.ts";
import type { SummaryStyle } from "./summary-templates.ts";

/** What may be said about a summary that is to be written. */
export interface SummaryRequest {
  /** Summary model as `provider/model`, or `extractive`; absent = the profile's, the configured one, else jpg chooses. */
  readonly model?: string;
  /** The model that this call talks to, as `provider/model`: of its provider is the one that jpg chooses. */
  readonly answering?: string;
  /** What the summary should dwell on, in the user's words. */
  readonly focus?: readonly string[];
  /** In place of the instructions of the template and of the profile. */
  readonly instructions?: string;
  /** Which template; absent = `sections`. */
  readonly style?: SummaryStyle;
  /** How the summary stands in the thread; absent = `pair`. */
  readonly inject?: Injection;
  /** Ends the writing: nothing is committed then. */
  readonly signal?: AbortSignal;
  /** Refuse a summary that says what the events do not bear out. */
  readonly strict?: boolean;
  /** Take a summary that is longer than what it replaces. */
  readonly force?: boolean;
  /** Tools that the conversation's own requests offer: a request behind its thread needs them, and fits the provider's cache. */
  readonly tools?: readonly ToolDefinition[];
  /** Told what is going on, a line at a time. The lines may hold words of the conversation: not safe for a terminal yet. */
  readonly progress?: (text: string) => void;
  /** Opens the model that was chosen; absent = as the settings say. */
  readonly openModel?: (name: string) => Promise<OpenedModel>;
}
