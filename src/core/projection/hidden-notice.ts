// The notice of what a view hides, for the model that reads it: what is not shown, and with which tools it is found. It is added
// when a view is rendered for a model that has these tools, once, and is in no stored view (docs/decisions/086).
import { type Compaction, isHiding } from "../compaction/compaction.ts";
import { NOTICE_ORIGIN } from "../event/event.ts";
import { SEARCH_TOOL, SHOW_TOOL } from "../tools/tool-definition.ts";
import { createOverlays } from "./overlay.ts";
import type { ToldRequest } from "./shown-index.ts";
import type { View } from "./view.ts";

/** The notice of a view, behind the newest compaction that hides something of it; null when none does. */
export function tellHidden(turnCount: number, compactions: readonly Compaction[]): ToldRequest | null {
  const overlays = createOverlays(
    turnCount,
    compactions.filter((compaction) => hiddenKinds(compaction).length > 0),
  );
  const [overlay] = overlays;
  if (overlay === undefined) return null;
  const from = Math.min(...overlays.map((one) => one.from));
  const to = Math.max(...overlays.map((one) => one.to));
  const hidden = new Set(overlays.flatMap(({ compaction }) => hiddenKinds(compaction)));
  const kinds = KINDS.filter((kind) => hidden.has(kind)).join(", ");
  const turns = from === to ? `turn ${from}` : `turns ${from}-${to}`;
  const content = `Parts of ${turns} are kept but not shown here: ${kinds}. jpg's tool \`${SEARCH_TOOL}\` finds what you miss by words near it, \`${SHOW_TOOL}\` gives the original.`;
  return {
    overlay,
    tell: (timestamp) => ({
      type: "chat_request",
      id: noticeId(overlay.compaction.id),
      timestamp,
      role: "system",
      content,
      metadata: { origin: NOTICE_ORIGIN },
    }),
  };
}

/** The id of the notice that stands behind a compaction's range. */
export function noticeId(compaction: string): string {
  return `${compaction}.notice`;
}

const KINDS = ["whole turns", "tool calls", "reasoning", "attachments"] as const;

function hiddenKinds(compaction: Compaction): readonly (typeof KINDS)[number][] {
  return [
    ...(isHiding(compaction) ? [KINDS[0]] : []),
    ...(compaction.tool_calls !== undefined ? [KINDS[1]] : []),
    ...(compaction.reasoning !== undefined ? [KINDS[2]] : []),
    ...(compaction.attachments !== undefined ? [KINDS[3]] : []),
  ];
}

/** Gives a view without its notice: for a model that is not offered the tools which it names. */
export function withoutNotice({ turns }: View): View {
  return {
    turns: turns.filter(({ events }) => !events.some(({ metadata }) => metadata?.origin === NOTICE_ORIGIN)),
  };
}
