// An MCP server that is started again when it has died, once: by the next call of one of its tools. The call during which it died
// is not repeated, for nobody knows what it did.
import { type McpServer, type McpServerStart, openMcpServer } from "./mcp-server.ts";

/** Starts a server as `openMcpServer` does; it keeps the tools that it listed then. */
export async function openLastingServer(start: McpServerStart): Promise<McpServer | { readonly problem: string }> {
  const first = await openMcpServer(start);
  if ("problem" in first) return first;
  let current = first;
  let again: ReturnType<typeof openMcpServer> | null = null;
  return {
    ...first,
    async call(tool, args, options) {
      const { signal, notice } = options;
      if (current.ended() !== null && again === null) {
        notice?.(`MCP server ${start.name} ${current.ended()}; it is started again.`);
        const { signal: _opening, ...anew } = start;
        again = openMcpServer(anew);
        const started = await again;
        if ("problem" in started) return { content: `${tool} failed: ${started.problem}`, isError: true };
        current = started;
        signal.throwIfAborted();
      }
      return current.call(tool, args, options);
    },
    ended: () => current.ended(),
    async close() {
      const started = await again;
      await Promise.all([first.close(), started !== null && "close" in started ? started.close() : undefined]);
    },
  };
}
