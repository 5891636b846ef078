// jp's settings as jpg's: what a conversation of jp says of compactions, its profiles and the hints of its tools. Whatever else jp
// sets, and what spends or sends, is no setting of a conversation here; all of it stays in the events.
import type { UniformToolCallPolicy } from "../../core/conversation/compaction.ts";
import { parseToolCallPolicy } from "../../core/conversation/policy.ts";
import { isRecord, type RawLine, recordOf } from "../json-line.ts";

/** Gives the settings of a change that jpg has, nested as there; null when there are none. */
export function settingsOfDelta(delta: RawLine): RawLine | null {
  const conversation = recordOf(delta, "conversation") ?? {};
  const compaction = compactionOf(recordOf(conversation, "compaction") ?? {});
  const tools = entriesOf(recordOf(conversation, "tools") ?? {}, hintsOf);
  const own = { ...(compaction !== null && { compaction }), ...(tools !== null && { tools }) };
  return Object.keys(own).length === 0 ? null : { conversation: own };
}

function compactionOf({ default_profile: profile, keep_last: kept, ...more }: RawLine): RawLine | null {
  const profiles = entriesOf(recordOf(more, "profiles") ?? {}, profileOf);
  return filled({
    ...(typeof profile === "string" && profile !== "" && { default_profile: profile }),
    ...(Number.isSafeInteger(kept) && Number(kept) >= 0 && { keep_last: kept }),
    ...(profiles !== null && { profiles }),
  });
}

function profileOf({ reasoning, tool_calls: calls, keep_last: kept }: RawLine): RawLine | null {
  const policy = calls === undefined ? null : callPolicyOf(calls);
  const last = Number.isSafeInteger(kept) && Number(kept) >= 0 ? { keep_last: kept } : {};
  return filled({
    ...last,
    ...(reasoning === "strip" && { reasoning }),
    ...(policy !== null && { tool_calls: policy }),
  });
}

/** Gives a policy of calls that jp has; null for another one. */
export function callPolicyOf(value: unknown): UniformToolCallPolicy | null {
  try {
    const policy = parseToolCallPolicy(value, "tool_calls");
    return policy.policy === "truncate" ? null : policy;
  } catch {
    return null; // of a later jp: no opinion that jpg could follow
  }
}

/** RFD D17 has `keep` and `strip`, RFD 036 for results also `remove`, and `dedup`. */
function hintsOf(tool: RawLine): RawLine | null {
  const { request, response, dedup } = recordOf(tool, "compaction") ?? {};
  const hints = filled({
    ...((request === "keep" || request === "strip") && { request }),
    ...((response === "keep" || response === "strip" || response === "remove") && { response }),
    ...(typeof dedup === "boolean" && { dedup }),
  });
  return hints === null ? null : { compaction: hints };
}

function entriesOf(table: RawLine, read: (value: RawLine) => RawLine | null): RawLine | null {
  const known = Object.entries(table).flatMap(([name, value]): [string, RawLine][] => {
    const own = isRecord(value) ? read(value) : null;
    return own === null ? [] : [[name, own]];
  });
  return filled(Object.fromEntries(known));
}

function filled(table: RawLine): RawLine | null {
  return Object.keys(table).length === 0 ? null : table;
}
