// Where links of a page lead: within a file to what stands in it; served to the page opened at that turn, so that they lead there
// without a script, too.
import type { ConversationPage } from "../../app/look/conversation-page.ts";
import type { Piece } from "../../core/look/both-views.ts";
import { branchAddress, eventAddress, turnAddress } from "./addresses.ts";
import type { Place } from "./document.ts";
import { eventAnchor, turnAnchor } from "./names.ts";

export interface PageLinks {
  turn(turn: number): string;
  event(turn: number, id: string): string;
  /** The whole text of an event, alone; null in a file. */
  text(turn: number, id: string): string | null;
  /** Turns, or rows of one turn, as HTML to stand where a gap was; null in a file. */
  part(turns: Piece, rows?: Piece): string | null;
}

/** Gives the links of a page of a branch at a commit. */
export function pageLinks(
  place: Place,
  { branch, commit, without }: Pick<ConversationPage, "branch" | "commit" | "without">,
): PageLinks {
  if (place.kind === "file")
    return {
      turn: (turn) => `#${turnAnchor(turn)}`,
      event: (_, id) => `#${encodeURIComponent(eventAnchor(id))}`,
      text: () => null,
      part: () => null,
    };
  const address = branchAddress(branch);
  const at = `commit=${commit}${without === undefined ? "" : `&without=${encodeURIComponent(without)}`}`;
  return {
    turn: (turn) => turnAddress(branch, turn, without),
    event: (turn, id) => eventAddress(branch, turn, id, without),
    text: (turn, id) => `${address}/text?at=${turn}:${encodeURIComponent(id)}&${at}`,
    part: ({ from, to }, rows) =>
      `${address}/turns?from=${from}&to=${to}${rows === undefined ? "" : `&rows=${rows.from}..${rows.to}`}&${at}`,
  };
}
