// The body of a request that a provider's API takes: what `query` sends of the same view, without what only streaming needs.

import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { userError } from "../../core/errors.ts";
import { inferProvider, parseModelName } from "../../core/model/model-name.ts";
import { knownProvider } from "../../core/model/model-provider.ts";
import type { ProviderName } from "../../core/model/provider-rules.ts";
import { type LlmRequest, toAnthropicBody, toGoogleBody } from "../../llm/client.ts";
import { toChatBody } from "../../llm/openai-chat-request.ts";
import { toResponsesBody } from "../../llm/openai-responses-request.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { readToolDefinitions } from "../branch/tool-records.ts";
import { lastModel } from "../models/last-model.ts";
import { configuredProviders } from "../models/model-connection.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Bodies by API. */
export const REQUEST_BODIES: Readonly<Record<ProviderName, (request: LlmRequest) => object>> = {
  anthropic: (request) => toAnthropicBody(request, false),
  "openai-chat": (request) => toChatBody({ provider: "openai" }, request, false),
  "openai-responses": (request) => toResponsesBody(request, false),
  google: toGoogleBody,
};

/**
 * Gives the model that a body is for, by the provider's own name: the named one, else the one of that API that answered last
 * in the conversation. Throws `no_model`.
 */
export async function modelOfBody(
  workspace: Workspace,
  tree: BranchTree,
  { api, named }: { readonly api: ProviderName; readonly named: string | undefined },
): Promise<string> {
  const { config } = await loadConversationConfig(workspace, tree);
  if (named !== undefined && named !== "") return ownName(named, configuredProviders(config));
  const isOfApi = (name: string): boolean => {
    const provider = name.slice(0, name.indexOf("/"));
    if (provider === "openai") return api.startsWith("openai-");
    return (config.providers[provider]?.api ?? knownProvider(provider)?.api) === api;
  };
  const last = await lastModel(workspace.store, tree, isOfApi);
  if (last !== null) return last.slice(last.indexOf("/") + 1);
  throw userError(
    "no_model",
    `No model of ${api} has answered in ${tree.branch}, so jpg cannot tell which model will read the request.`,
    {
      hints: [`Add \`--model ${EXAMPLES[api]}\`, or \`--messages\` to export only the messages.`],
    },
  );
}

/** The tools that requests of the conversation offered last; none where they are not recorded. */
export async function recordedDefinitions(workspace: Workspace, tree: BranchTree): Promise<readonly ToolDefinition[]> {
  const { tools } = await loadConversationConfig(workspace, tree);
  return tools === null ? [] : readToolDefinitions(workspace.store, tree, tools);
}

const EXAMPLES: Readonly<Record<ProviderName, string>> = {
  anthropic: "claude-sonnet",
  "openai-chat": "ollama/qwen3",
  "openai-responses": "gpt-mini",
  google: "gemini-flash",
};

/** A local server's model goes by any name: what names no provider that jpg knows is passed on as it is. */
function ownName(name: string, configured: readonly string[]): string {
  const slash = name.indexOf("/");
  const provider = name.slice(0, Math.max(slash, 0));
  const isKnown =
    slash === -1
      ? inferProvider(name) !== null
      : configured.includes(provider) || knownProvider(provider.toLowerCase()) !== undefined;
  return isKnown ? parseModelName(name, configured).model : name;
}
