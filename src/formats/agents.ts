// The agents whose sessions jpg knows: the only place that lists them. A file is taken for the first that recognises it.
import type { AgentFormat } from "./agent-format.ts";
import { CLAUDE_CODE } from "./claude-code/agent.ts";

export const AGENTS: readonly AgentFormat[] = [CLAUDE_CODE];
