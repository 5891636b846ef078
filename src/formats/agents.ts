// The only list of the formats that jpg reads. The first that recognises a file reads it; agents come first, since a file of an
// agent may also look like an API request.
import type { AgentFormat } from "./agent-format.ts";
import { AIDER } from "./aider/agent.ts";
import { ANTHROPIC_REQUESTS } from "./anthropic/agent.ts";
import { CLAUDE_CODE } from "./claude-code/agent.ts";
import { CLINE } from "./cline/agent.ts";
import { CODEX } from "./codex/agent.ts";
import { COPILOT_CLI } from "./copilot-cli/agent.ts";
import { GEMINI_CLI } from "./gemini-cli/agent.ts";
import { GOOGLE_REQUESTS } from "./google/agent.ts";
import { JP } from "./jp/agent.ts";
import { CHAT_REQUESTS } from "./openai-chat/agent.ts";
import { RESPONSES_REQUESTS } from "./openai-responses/agent.ts";
import { OPENCODE } from "./opencode/agent.ts";
import { PI } from "./pi/agent.ts";

export const AGENTS: readonly AgentFormat[] = [
  CLAUDE_CODE,
  CODEX,
  COPILOT_CLI,
  PI,
  GEMINI_CLI,
  JP,
  OPENCODE,
  CLINE,
  AIDER,
  ANTHROPIC_REQUESTS,
  CHAT_REQUESTS,
  GOOGLE_REQUESTS,
  RESPONSES_REQUESTS,
];
