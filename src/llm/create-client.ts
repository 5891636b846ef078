// Creates clients; loads a provider's library only when it is needed.
import type { LlmClient, LlmConnection } from "./client.ts";

/** Creates a client. Sends nothing by itself. */
export async function createClient(connection: LlmConnection): Promise<LlmClient> {
  switch (connection.api) {
    case "anthropic":
      return (await import("./anthropic.ts")).createAnthropicClient(connection);
    case "openai-responses":
      return (await import("./openai-responses.ts")).createResponsesClient(connection);
    case "openai-chat":
      return (await import("./openai-chat.ts")).createChatClient(connection);
    case "google":
      return (await import("./google.ts")).createGoogleClient(connection);
    default:
      return connection.api satisfies never;
  }
}
