// The anatomy of a window as it is reported: plain data, the document of `jpg stats --anatomy --json`.
import type { Origin } from "../../core/conversation/event.ts";
import type { ViewPart } from "../../core/model/cache-cost.ts";
import type { OverheadSource, TokenSource } from "../../core/model/token-meter.ts";
import type { StrategyHeadroom } from "../plan/headroom.ts";
import type { RecordedCost } from "./recorded-cost.ts";

/** What a part of the window holds. `overhead` = system prompt and tools, where only their sum is known. */
export type AnatomyKind = ViewPart | "overhead" | "tools";

/** A part of the window. */
export interface AnatomyPart {
  readonly kind: AnatomyKind;
  readonly tokens: number;
}

/** What the calls of one tool and their results take up. */
export interface AnatomyTool {
  readonly tool: string;
  readonly calls: number;
  readonly call_tokens: number;
  readonly result_tokens: number;
  /** Both together. */
  readonly tokens: number;
}

/** A turn of the view, or what stands for several. Positions are raw, 0-based, inclusive. */
export interface AnatomyTurn {
  readonly from: number;
  readonly to: number;
  readonly kind: Origin["kind"];
  readonly tokens: number;
  /** Largest first. */
  readonly by_kind: readonly AnatomyPart[];
  /** What the requests of these turns used when they were said; null = nothing is recorded. */
  readonly recorded: RecordedCost | null;
}

/** What is left to be freed, and how long that helps. */
export interface AnatomyHeadroom {
  /** Each strategy by itself, those that take least first, `auto` at the end. */
  readonly strategies: readonly StrategyHeadroom[];
  /** The most that all of them free together; no model writes anything. */
  readonly mechanical: {
    readonly frees: number;
    readonly after: number;
    /** `frees` as a share of the window. */
    readonly share: number;
  };
  /** Share of the window above which only a summary helps: the setting `summarize_threshold`. */
  readonly threshold: number;
  /** Turns like those that the view shows until the view is above it whatever mechanical compaction frees; 0 = it is; null = cannot be told. */
  readonly turns_left: number | null;
}

/** The anatomy of a view. Tokens are whole numbers, shares 0..1 of the window. */
export interface AnatomyReport {
  readonly branch: string;
  readonly commit: string;
  /** Raw turns of the conversation. */
  readonly turns: number;
  /** The model that answered last, `provider/model`; null where none did. */
  readonly model: string | null;
  readonly window: number;
  /** `usual`: the model's is not known, and that of most models is taken. */
  readonly window_source: "known" | "usual";
  readonly tokens: number;
  readonly tokens_source: TokenSource;
  /** Where the size of system prompt and tools is from; `unknown`: they are not counted. */
  readonly overhead_source: OverheadSource;
  /** In the order in which a request holds them; they add up to `tokens`. */
  readonly by_kind: readonly AnatomyPart[];
  /** Largest first. */
  readonly by_tool: readonly AnatomyTool[];
  /** In the order of the view. */
  readonly by_turn: readonly AnatomyTurn[];
  /** All turns, those that the view hides among them. */
  readonly recorded: RecordedCost | null;
  readonly headroom: AnatomyHeadroom;
}
