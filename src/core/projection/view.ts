// The view: what a projection yields, turn by turn, each turn knowing its origin.
import type { Event } from "../event/event.ts";

/** Where a projected turn comes from. Turn positions are raw, 0-based, inclusive. */
export type Origin =
  | { readonly kind: "kept"; readonly turn: number /** only a part of the turn is shown here */; readonly part?: true }
  | {
      readonly kind: "summary" | "replacement";
      readonly from: number;
      readonly to: number;
      readonly compaction: string;
      /** It came in with an imported session: jpg neither wrote nor checked it. */
      readonly imported?: true;
    }
  | {
      /** The list of what the view hides, or the notice of it, standing for nothing itself. */
      readonly kind: "index";
      /** The last turn that it says anything of, both times. */
      readonly from: number;
      readonly to: number;
      readonly compaction: string;
      readonly imported?: never;
    };

export interface ProjectedTurn {
  readonly origin: Origin;
  readonly events: readonly Event[];
}

export interface View {
  readonly turns: readonly ProjectedTurn[];
}
