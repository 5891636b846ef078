// `jpg mcp`: the tools of jpg for any agent, over standard input and output, which carry the protocol and nothing else.
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
  "jpg is version control for conversations such as this one: what compactions took out of the context stays stored. `search` finds it, `show` gives the original, `log` tells what was taken out, `stats` how large the context is, `compact` prepares a smaller continuation, `fork` another way.";

/** Serves until the client closes its end. Throws nothing that a call throws. */
export async function serveMcp(place: McpPlace): Promise<void> {
  const transport = new StdioServerTransport();
  const closed = new Promise<void>((resolve) => {
    process.stdin.once("close", resolve);
    process.stdin.once("end", resolve);
    process.stdout.once("error", () => resolve());
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
