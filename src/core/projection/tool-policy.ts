// What a compaction says about one half of a tool call: its policy, the calls it names, and the hints frozen into it.
import type { CallPolicy, Compaction, FieldPolicy, UniformToolCallPolicy } from "../compaction/compaction.ts";
import type { ToolCallRequest } from "../event/event.ts";
import type { Overlay } from "./overlay.ts";

/** The two halves of a tool call. */
export type CallHalf = "request" | "response";

/**
 * Resolves what an overlay says about one half of a call, or undefined when it has no opinion. `request` is the call
 * itself, undefined when a result has none. A call named by a selective policy is left alone by hints (they were known
 * when it was named); one half named `omit` omits both, because neither is valid alone.
 */
export function resolveCallPolicy(
  overlay: Overlay,
  half: CallHalf,
  request: ToolCallRequest | undefined,
): CallPolicy | undefined {
  const policy = overlay.compaction.tool_calls;
  if (policy === undefined) return undefined;
  if (policy.policy !== "selective") return resolveUniform(policy, half, overlay.compaction, request);
  const named = request === undefined ? undefined : overlay.calls?.get(request.id);
  if (named !== undefined) return named.request === "omit" || named.response === "omit" ? "omit" : named[half];
  return policy.else === undefined ? undefined : resolveUniform(policy.else, half, overlay.compaction, request);
}

function resolveUniform(
  policy: UniformToolCallPolicy,
  half: CallHalf,
  compaction: Compaction,
  request: ToolCallRequest | undefined,
): CallPolicy {
  if (policy.policy === "omit") return "omit";
  const hint = findHint(compaction, request?.name, half);
  if (hint !== undefined) return hint;
  if (policy.policy === "strip") return policy[half] ? "strip" : "keep";
  return half === "request" ? "keep" : { truncate: policy };
}

/** The hint of exactly that tool, else of `*`. */
function findHint(compaction: Compaction, tool: string | undefined, half: CallHalf): FieldPolicy | undefined {
  const hints = compaction.tool_overrides;
  if (hints === undefined) return undefined;
  const hint = tool !== undefined && Object.hasOwn(hints, tool) ? hints[tool] : hints["*"];
  return hint?.[half];
}
