// Checks what the files of a branch say of each other: turns that follow one another, ids that are used once, results with
// calls, compactions of turns that are there, payloads that are there and needed.
import type { Compaction } from "../compaction/compaction.ts";
import { attachmentPath } from "../event/attachment.ts";
import { pairCalls } from "../event/tool-pairing.ts";
import type { Turn } from "../event/turn.ts";
import { turnPath } from "../event/turn-file.ts";
import type { EventRange } from "../range/range-location.ts";
import { eventRangeOf, extendEventRange, standsForTurns } from "../range/summary-extent.ts";
import { createFinding, type Finding } from "./finding.ts";
import type { CheckedCompaction } from "./record-check.ts";
import type { CheckedTurn } from "./turn-check.ts";

/** A turn with the object id of its file. */
export interface StoredTurn extends CheckedTurn {
  readonly oid: string;
}

/** What one finding lists at most. */
const MOST_NAMED = 5;

/** Checks turns against each other. A hole is a turn that is missing: what follows it is not held against it. */
export function checkTurns(turns: readonly (StoredTurn | undefined)[]): readonly Finding[] {
  return [...checkChain(turns), ...checkIds(turns), ...checkResults(turns)];
}

function checkChain(turns: readonly (StoredTurn | undefined)[]): readonly Finding[] {
  return turns.flatMap((turn, index) => {
    const before = turns[index - 1];
    if (turn?.previous == null || (index > 0 && before === undefined) || turn.previous === before?.oid) return [];
    const found = index === 0 ? "there is no turn before it" : `turn ${index - 1} is ${before?.oid.slice(0, 9)}`;
    return [
      createFinding("chain_broken", {
        path: turnPath(index),
        message: `turn ${index} was said after turn file ${turn.previous.slice(0, 9)}, but ${found}: no model ever saw these turns in a row`,
        hint: `\`jpg git log --merges -- turns\` shows the merge that put them together; the commits before it have each side whole`,
      }),
    ];
  });
}

function checkIds(turns: readonly (StoredTurn | undefined)[]): readonly Finding[] {
  const seen = new Map<string, number>();
  const findings: Finding[] = [];
  for (const [index, turn] of turns.entries())
    for (const { id } of turn?.events ?? []) {
      const first = seen.get(id);
      if (first === undefined) seen.set(id, index);
      else findings.push(repeated(id, first, index));
    }
  return findings.slice(0, MOST_NAMED);
}

function repeated(id: string, first: number, index: number): Finding {
  const where = first === index ? `twice in turn ${index}` : `in turn ${first} and in turn ${index}`;
  return createFinding("id_repeated", {
    path: turnPath(index),
    message: `the event id ${id} occurs ${where}: a compaction that names it cannot tell which is meant`,
    hint: `\`jpg git log -p -- ${turnPath(index)}\` shows the commit that copied it; revert it`,
  });
}

function checkResults(turns: readonly (StoredTurn | undefined)[]): readonly Finding[] {
  const whole = turns.map((turn, index): Turn => ({ index, events: turn?.events ?? [] }));
  const pairs = pairCalls(whole, () => false);
  const alone = whole.flatMap(({ index, events }) =>
    events.flatMap((event) => (event.type === "tool_call_response" && !pairs.has(event) ? [{ index, event }] : [])),
  );
  return alone.slice(0, MOST_NAMED).map(({ index, event }) =>
    createFinding("result_without_call", {
      path: turnPath(index),
      message: `the result ${event.id} answers no call (${event.call_id})`,
      hint: "it is not sent to models; if the session had it like that, nothing is wrong",
    }),
  );
}

/** Checks the compactions of a branch against its turns. */
export function checkCompactions(
  compactions: readonly CheckedCompaction[],
  turns: readonly (StoredTurn | undefined)[],
): readonly Finding[] {
  return [...compactions.flatMap((each) => checkBounds(each, turns)), ...checkOverlaps(compactions, turns)];
}

function checkBounds(
  { path, compaction }: CheckedCompaction,
  turns: readonly (StoredTurn | undefined)[],
): readonly Finding[] {
  const { from_turn, to_turn } = compaction;
  if (from_turn >= turns.length || from_turn > to_turn)
    return [
      createFinding("range_beyond_end", {
        path,
        message: `it covers turns ${from_turn}..${to_turn}, and the branch has ${turns.length}: it does nothing`,
        hint: `\`jpg revert ${compaction.id}\` undoes it`,
      }),
    ];
  const bounds = [
    { turn: from_turn, event: compaction.from_event },
    { turn: to_turn, event: compaction.to_event },
  ];
  return bounds.flatMap(({ turn, event }) => {
    const events = turns[turn]?.events;
    if (event === undefined || events === undefined || events.some(({ id }) => id === event)) return [];
    return [
      createFinding("event_missing", {
        path,
        message: `it ends at event ${event}, which turn ${turn} does not hold`,
        hint: `\`jpg show ${compaction.id}\` shows what it does; \`jpg revert ${compaction.id}\` undoes it`,
      }),
    ];
  });
}

/** Summaries contain each other or lie apart; merges and reverts can leave others, and the newest then wins where it reaches. */
function checkOverlaps(
  compactions: readonly CheckedCompaction[],
  turns: readonly (StoredTurn | undefined)[],
): readonly Finding[] {
  const whole = new Map(
    turns.flatMap((turn, index) => (turn ? [[index, { index, events: turn.events }] as const] : [])),
  );
  const facts = { turnCount: turns.length, turns: whole };
  const summaries = compactions.flatMap(({ path, compaction }) => {
    const range = standsForTurns(compaction) ? eventRangeOf(compaction, facts) : null;
    return range === null ? [] : [{ path, compaction, range }];
  });
  return summaries.flatMap(({ path, compaction, range }, index) => {
    const isOverlapped = (other: Compaction): boolean => !isSameRange(extendEventRange(range, [other], facts), range);
    const other = summaries.slice(0, index).find((each) => isOverlapped(each.compaction));
    return other === undefined ? [] : [overlap(path, compaction, other.compaction)];
  });
}

function isSameRange(a: EventRange, b: EventRange): boolean {
  return a.from === b.from && a.fromIndex === b.fromIndex && a.to === b.to && a.toIndex === b.toIndex;
}

function overlap(path: string, compaction: Compaction, other: Compaction): Finding {
  const range = ({ from_turn, to_turn }: Compaction): string => `${from_turn}..${to_turn}`;
  return createFinding("summaries_overlap", {
    path,
    message: `the summary of turns ${range(compaction)} overlaps that of ${range(other)} (${other.id}) in part: both are shown`,
    hint: `\`jpg revert ${compaction.id} ${other.id}\`, then \`jpg compact\` over both ranges`,
  });
}

/** Checks payloads: `used` = names that events, records or sources refer to. */
export function checkAttachments(present: ReadonlySet<string>, used: ReadonlySet<string>): readonly Finding[] {
  const missing = [...used].filter((name) => !present.has(name));
  const unused = [...present].filter((name) => !used.has(name));
  return [
    ...missing.slice(0, MOST_NAMED).map((name) =>
      createFinding("attachment_missing", {
        path: attachmentPath(name),
        message: "an event refers to it and it is not there",
        hint: `\`jpg git log --diff-filter=D -- ${attachmentPath(name)}\` shows the commit that removed it; revert that commit`,
      }),
    ),
    ...unused.slice(0, MOST_NAMED).map((name) =>
      createFinding("attachment_unused", {
        path: attachmentPath(name),
        message: "nothing refers to it",
        hint: `it costs space only; \`jpg git log -- ${attachmentPath(name)}\` shows who added it`,
      }),
    ),
  ];
}
