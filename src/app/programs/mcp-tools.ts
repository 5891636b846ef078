// The tools of the MCP servers that the settings name, ready to be called by a model. Settings of untrusted layers never
// get here; a server gets a minimal environment, never the keys of providers.
import type { Config } from "../../config/config.ts";
import { nameTools } from "../../core/conversation/defined-tools.ts";
import { defined } from "../../core/json.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openLastingServer } from "./lasting-server.ts";
import type { McpServer } from "./mcp-server.ts";
import type { Tool, ToolBox } from "./tool-box.ts";

export interface McpToolOptions {
  /** Names that are taken, such as those of jpg's own tools. */
  readonly taken?: readonly string[];
  /** Ends the opening. */
  readonly signal?: AbortSignal;
  /** Time for a server to be ready, milliseconds; default 10000. */
  readonly openingMs?: number;
}

/** What a server is told of the world around it, beside its own settings. */
const PASSED_ON = ["PATH", "HOME", "LANG", "TERM", "TMPDIR"] as const;

/**
 * Starts the servers of the settings, all at once, and lists their tools. A server that cannot be had is a problem of the
 * box, not an error. Throws only when the signal ends it; then nothing runs on.
 */
export async function openMcpTools(
  { runtime, location }: Workspace,
  config: Config,
  { taken = [], signal, openingMs }: McpToolOptions = {},
): Promise<ToolBox> {
  const cwd = location.project?.root ?? location.root;
  const inherited = Object.fromEntries(PASSED_ON.map((name) => [name, runtime.env[name]]));
  const names = Object.keys(config.mcp.servers).sort();
  const settings = names.map((name) => config.mcp.servers[name] ?? {});
  const results = await Promise.allSettled(
    names.map((name, index) =>
      openLastingServer({
        name,
        settings: settings[index] ?? {},
        cwd,
        version: runtime.version,
        env: { ...inherited, ...settings[index]?.env },
        ...defined({ signal, openingMs }),
      }),
    ),
  );
  const opened = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const servers = opened.filter((result) => "close" in result);
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close()));
  };
  const failure = results.find((result) => result.status === "rejected");
  if (failure !== undefined) {
    await close();
    throw failure.reason;
  }
  return {
    tools: toTools(servers, taken, (name) => config.mcp.servers[name]?.confirm ?? true),
    problems: opened.flatMap((result) => ("problem" in result ? [result.problem] : [])),
    close,
  };
}

function toTools(
  servers: readonly McpServer[],
  taken: readonly string[],
  confirms: (server: string) => boolean,
): readonly Tool[] {
  const listed = servers.flatMap((server) => server.tools.map((tool) => ({ server, tool })));
  const names = nameTools(
    listed.map(({ server, tool }) => ({ server: server.name, tool: tool.name })),
    taken,
  );
  return listed.map(({ server, tool }, index) => ({
    definition: { name: names[index] ?? tool.name, description: tool.description, parameters: tool.inputSchema },
    origin: server.name,
    confirm: confirms(server.name),
    call: (args, options) => server.call(tool.name, args, options),
  }));
}
