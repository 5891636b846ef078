// `jpg mcp`: the tools of jpg for any agent, over standard input and output, which carry the protocol and nothing else.
import type { Readable, Writable } from "node:stream";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { compactTool } from "./tools/compact.ts";
import { forkTool } from "./tools/fork.ts";
import { logTool } from "./tools/log.ts";
import { searchTool } from "./tools/search.ts";
import { showTool } from "./tools/show.ts";
import { statsTool } from "./tools/stats.ts";
import type { McpPlace, McpTool } from "./tools/tool.ts";

const TOOLS: readonly McpTool[] = [compactTool, logTool, showTool, searchTool, forkTool, statsTool];

const INSTRUCTIONS =
  "jpg is version control for conversations such as this one: what compactions took out of the context stays stored. `search` finds it, `show` returns the original, `log` lists what was taken out, `stats` counts the tokens of the context, `compact` prepares a smaller continuation, `fork` makes a branch to try another way.";

/** What the client writes and reads. */
export interface McpStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Serves until the client closes its end. Throws nothing that a call throws. */
export async function serveMcp(
  place: McpPlace,
  { input, output }: McpStreams = { input: process.stdin, output: process.stdout },
): Promise<void> {
  const transport = new StdioServerTransport(input, output);
  const closed = new Promise<void>((resolve) => {
    input.once("close", resolve);
    input.once("end", resolve);
    output.once("error", () => resolve());
  });
  const handle = serveStdio(() => createServer(place), { transport });
  await closed;
  await handle.close();
}

function createServer(place: McpPlace): McpServer {
  const server = new McpServer({ name: "jpg", version: place.runtime.version }, { instructions: INSTRUCTIONS });
  for (const addTo of TOOLS) addTo(server, place);
  return server;
}
