// The lowest layer: what holds when nobody has set anything.

import { TRIGGER_RATIO } from "../core/compact/automatic.ts";
import { DEFAULT_TOOL_HINTS } from "../core/compact/tool-hints.ts";
import { BUILT_IN_PROFILES } from "../core/conversation/policy.ts";

/** The built-in settings, in the shape of a config file. */
export const BUILT_IN: Readonly<Record<string, unknown>> = {
  conversation: {
    model: "",
    system_prompt: "",
    compaction: {
      default_profile: "default",
      keep_last: 3,
      strategy: "auto",
      model: "",
      summarize_threshold: 0.5,
      index: true,
      fork: false,
      profiles: BUILT_IN_PROFILES,
      auto: { enabled: false, trigger_ratio: TRIGGER_RATIO, warning_ratio: 0.7, profile: "default", min_turns: 5 },
    },
    tools: Object.fromEntries(Object.entries(DEFAULT_TOOL_HINTS).map(([name, hint]) => [name, { compaction: hint }])),
  },
};
