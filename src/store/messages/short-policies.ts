// The policies of a compaction in one line by key, for the trailer Jpg-Policy, e.g. `reasoning=strip tool_calls=truncate:2000`.
import type { Compaction, ToolCallPolicy } from "../../core/conversation/compaction.ts";

/** Formats the policies in a fixed order; `none` when the compaction has no opinion. */
export function shortPolicies(compaction: Compaction): string {
  const { summary, replacement, turns, reasoning, tool_calls, attachments, tools } = compaction;
  const parts = [
    ...(summary === undefined ? [] : [`summary=${summary.source ?? "text"}`]),
    ...(replacement === undefined ? [] : [`replacement=${replacement.length}`]),
    ...(turns === undefined ? [] : [`turns=${turns}`]),
    ...(reasoning === undefined ? [] : [`reasoning=${reasoning}`]),
    ...(tool_calls === undefined ? [] : [`tool_calls=${shortToolPolicy(tool_calls)}`]),
    ...(attachments === undefined ? [] : [`attachments=${attachments}`]),
    ...(tools === undefined ? [] : [`tools=prune:${tools.names.length}`]),
  ];
  return parts.length === 0 ? "none" : parts.join(" ");
}

function shortToolPolicy(policy: ToolCallPolicy): string {
  switch (policy.policy) {
    case "strip":
      if (policy.request && policy.response) return "strip";
      if (policy.response) return "strip-responses";
      return policy.request ? "strip-requests" : "keep";
    case "truncate":
      return `truncate:${policy.max_chars}`;
    case "omit":
      return "omit";
    case "selective":
      return `selective:${policy.calls.length}${policy.else === undefined ? "" : `+${shortToolPolicy(policy.else)}`}`;
    default:
      return policy satisfies never;
  }
}
