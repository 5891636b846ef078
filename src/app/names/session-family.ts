// The branches among which those of a session are, found without going through all branches for each of many sessions.
import { conversationOf, shortId } from "../../core/conversation/name.ts";
import type { BranchTip } from "../../store/store.ts";
import { sha256 } from "../workspace/object-id.ts";

/** The suffix of an imported conversation's id: derived from the session, so that everyone's import has the same. */
export function importSuffix(format: string, session: string, length = 4): string {
  return shortId(sha256(`${format}:${session}`), length);
}

/** What the branches of a session are found by. */
export interface FamilyNames {
  /** As `importSuffix` gives it, four characters or more. */
  readonly suffix: string;
  /** The conversation that the file says it continues. */
  readonly continues: string | undefined;
}

interface Member {
  readonly tip: BranchTip;
  readonly conversation: string;
  /** Place among all branches. */
  readonly at: number;
}

/** Members by conversation, and by the first characters of its suffix. */
interface Families {
  readonly byConversation: ReadonlyMap<string, readonly Member[]>;
  readonly bySuffix: ReadonlyMap<string, readonly Member[]>;
}

/** Characters that every suffix has. */
const SHORTEST_SUFFIX = 4;

/** By the list of branches, which is one for all sessions of a pass. */
const known = new WeakMap<readonly BranchTip[], Families>();

/** The branches of a session's conversation, or of the one it continues, in the order of the branches. */
export function familyOf(branches: readonly BranchTip[], { suffix, continues }: FamilyNames): readonly BranchTip[] {
  const { byConversation, bySuffix } = familiesOf(branches);
  // A suffix is longer than usual where two sessions would have had one name.
  const own = (bySuffix.get(suffix.slice(0, SHORTEST_SUFFIX)) ?? []).filter(({ conversation }) =>
    suffixOf(conversation).startsWith(suffix),
  );
  const continued = continues === undefined ? [] : (byConversation.get(continues) ?? []);
  return [...new Set([...own, ...continued])].sort((a, b) => a.at - b.at).map(({ tip }) => tip);
}

function familiesOf(branches: readonly BranchTip[]): Families {
  const made = known.get(branches);
  if (made !== undefined) return made;
  const members = branches.map((tip, at) => ({ tip, conversation: conversationOf(tip.name), at }));
  const families = {
    byConversation: groupBy(members, ({ conversation }) => conversation),
    bySuffix: groupBy(members, ({ conversation }) => suffixOf(conversation).slice(0, SHORTEST_SUFFIX)),
  };
  known.set(branches, families);
  return families;
}

function groupBy(members: readonly Member[], keyOf: (member: Member) => string): Map<string, Member[]> {
  const groups = new Map<string, Member[]>();
  for (const member of members) {
    const group = groups.get(keyOf(member));
    if (group === undefined) groups.set(keyOf(member), [member]);
    else group.push(member);
  }
  return groups;
}

function suffixOf(conversation: string): string {
  return conversation.slice(conversation.lastIndexOf("-") + 1);
}
