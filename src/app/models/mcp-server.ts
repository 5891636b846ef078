// One MCP server that jpg started: the handshake, its tools, calls to them. Any failure (missing, dead, silent, not speaking MCP)
// becomes a sentence that names the server and the setting to change; every wait has a limit.
import {
  type CallToolResult,
  Client,
  deserializeMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Config, McpServerConfig } from "../../config/config.ts";
import { formatKey } from "../../config/keys.ts";
import { nameTools } from "../../core/conversation/defined-tools.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { type RunningProgram, startProgram } from "./external-process.ts";
import { type Tool, type ToolBox, type ToolCallOptions, type ToolResult, toToolResult } from "./tool-box.ts";

/** Milliseconds for the handshake and the list of tools together. */
export const OPENING_MS = 10_000;
/** Milliseconds for a call if the settings say nothing. */
export const CALL_MS = 60_000;
/** Characters of a server's last error output that are kept. */
const KEPT_ERRORS = 4096;
const SHOWN_ERROR = 200;

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A server that is ready; must be closed. */
export interface McpServer {
  readonly name: string;
  /** All pages, in the order listed. */
  readonly tools: readonly ListedTool[];
  /** Calls a tool. Failures are results with `isError`; throws only when the signal ends the call. */
  call(tool: string, args: Readonly<Record<string, unknown>>, options: ToolCallOptions): Promise<ToolResult>;
  /** How its program ended, e.g. `ended with exit code 7`; null while it runs. */
  ended(): string | null;
  close(): Promise<void>;
}

export interface McpServerStart {
  readonly name: string;
  readonly settings: McpServerConfig;
  readonly cwd: string;
  /** The version of jpg, which the server gets. */
  readonly version: string;
  /** The whole environment it gets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  /** Default `OPENING_MS`. */
  readonly openingMs?: number;
}

/** Starts a server and lists its tools, or returns a sentence why it could not. Throws only when the signal ends it. */
export async function openMcpServer(start: McpServerStart): Promise<McpServer | { readonly problem: string }> {
  const { name, settings, signal } = start;
  const key = formatKey(["mcp", "servers", name]);
  if (settings.command === undefined || settings.command === "") {
    return { problem: `MCP server ${name} has no program: set ${key}.command.` };
  }
  const program = startProgram([settings.command, ...(settings.args ?? [])], start);
  const sentence = (reason: string): string => `MCP server ${name} ${reason} (settings: ${key})`;
  if ("problem" in program) return { problem: `${sentence(program.problem)}.` };
  const session = createSession(program, start);
  try {
    const tools = await greet(session, start);
    return {
      name,
      tools,
      call: (tool, args, { signal: end }) =>
        callTool(session, { tool, args, sentence, timeoutMs: settings.timeout_ms, signal: end }),
      ended: session.ended,
      close: () => program.end(),
    };
  } catch (error) {
    const reason = await session.whyFailed(error, (start.openingMs ?? OPENING_MS) / 1000);
    await program.end();
    signal?.throwIfAborted();
    return { problem: `${sentence(reason)}.` };
  }
}

/** A connection and its state. */
interface Session {
  readonly client: Client;
  readonly transport: ProgramTransport;
  /** Why something failed; completes "MCP server X …". `seconds`: the limit that it had. */
  whyFailed(error: unknown, seconds: number): Promise<string>;
  /** How the program ended; null while it runs. */
  ended(): string | null;
}

function createSession(program: RunningProgram, start: McpServerStart): Session {
  const client = new Client({ name: "jpg", version: start.version });
  const transport = createProgramTransport(program);
  let how: string | null = null;
  let errors = "";
  void program.ended.then((reason) => {
    how = reason;
  });
  program.errors.on("error", () => {}); // `ended` reports it
  program.errors.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-KEPT_ERRORS);
  });
  const shown = (text: string): string => hideSecrets(text, start.settings).slice(0, SHOWN_ERROR).trim();
  return {
    client,
    transport,
    ended: () => how ?? transport.givenUp(),
    async whyFailed(error, seconds) {
      // It is known earlier that the connection closed than how the program ended.
      if (isClosed(error)) await Promise.race([program.ended, new Promise((resolve) => setTimeout(resolve, 100))]);
      const said = errors.trim().split("\n").at(-1) ?? "";
      const rubbish = transport.rubbish();
      const what = transport.givenUp() ?? how ?? (isTimeout(error) ? `did not answer within ${seconds} s` : null);
      return [
        what ?? `answered with an error: ${shown(messageOf(error))}`,
        ...(rubbish === null || what === null
          ? []
          : [`it printed something that is not an MCP message: ${shown(rubbish)}`]),
        ...(said === "" || what === null ? [] : [`it said: ${shown(said)}`]),
      ].join("; ");
    },
  };
}

async function greet({ client, transport }: Session, start: McpServerStart): Promise<readonly ListedTool[]> {
  const timeout = start.openingMs ?? OPENING_MS;
  const deadline = AbortSignal.timeout(timeout);
  const signal = start.signal === undefined ? deadline : AbortSignal.any([start.signal, deadline]);
  await client.connect(transport, { timeout, signal });
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const { tools } = await client.listTools(undefined, { timeout, signal });
  return tools.map(({ name, description = "", inputSchema }) => ({ name, description, inputSchema }));
}

interface ToolCallFacts {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly sentence: (reason: string) => string;
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
}

async function callTool(session: Session, facts: ToolCallFacts): Promise<ToolResult> {
  const { tool, args, sentence, signal, timeoutMs = CALL_MS } = facts;
  signal.throwIfAborted();
  try {
    // Not the client's `callTool`: a result that breaks the server's own output schema is still better than none.
    const params = { name: tool, arguments: { ...args } };
    const options = { timeout: timeoutMs, signal };
    return toToolResult((await session.client.request({ method: "tools/call", params }, options)) as CallToolResult);
  } catch (error) {
    signal.throwIfAborted();
    const reason = await session.whyFailed(error, timeoutMs / 1000);
    return { content: `${tool} failed: ${sentence(reason)}.`, isError: true };
  }
}

function isTimeout(error: unknown): boolean {
  return codeOf(error) === "REQUEST_TIMEOUT" || (error instanceof Error && error.name === "TimeoutError");
}

function isClosed(error: unknown): boolean {
  return codeOf(error) === "CONNECTION_CLOSED";
}

/** Removes values of its environment and arguments that are no paths: settings may hold keys, and a server may print them. */
function hideSecrets(text: string, { env = {}, args = [] }: McpServerConfig): string {
  const secrets = [...Object.values(env), ...args.filter((arg) => !/^[./]/.test(arg))];
  return secrets.filter((value) => value.length >= 4).reduce((left, value) => left.replaceAll(value, "…"), text);
}

// Sends and receives MCP messages of a running program: one JSON object per line. Skips other lines and keeps the beginning of the
// first, so that an error can show what was printed instead; the length of a line is limited.

/** Bytes of the longest line: a result with some images in it. */
export const MAX_LINE_BYTES: number = 32 * 1024 * 1024;
/** Characters kept of a line that is no message. */
const EXCERPT_LENGTH = 120;
const LINE_FEED = 10;

/** A transport that says why it failed. */
export interface ProgramTransport extends Transport {
  /** The beginning of the first line that was no message; null when there was none. */
  rubbish(): string | null;
  /** Why this side closed the connection; null when it did not. */
  givenUp(): string | null;
}

/** Creates the transport for a started program; closing it ends the program. */
export function createProgramTransport(
  program: RunningProgram,
  maxLineBytes: number = MAX_LINE_BYTES,
): ProgramTransport {
  let firstRubbish: string | null = null;
  let reason: string | null = null;
  const takeLine = (line: string): void => {
    if (line.trim() === "") return;
    try {
      transport.onmessage?.(deserializeMessage(line));
    } catch {
      firstRubbish ??= line.slice(0, EXCERPT_LENGTH);
    }
  };
  const giveUp = (): void => {
    reason = `wrote a line of more than ${maxLineBytes / 1024 / 1024} MiB`;
    void program.end();
  };
  const transport: ProgramTransport = {
    async start() {
      readLines(program, { maxLineBytes, takeLine, giveUp });
      void program.ended.then(() => transport.onclose?.());
    },
    async send(message) {
      program.input.write(serializeMessage(message));
    },
    close: () => program.end(),
    rubbish: () => firstRubbish,
    givenUp: () => reason,
  };
  return transport;
}

interface LineReading {
  readonly maxLineBytes: number;
  readonly takeLine: (line: string) => void;
  /** Called once, when a line is too long; nothing is read after it. */
  readonly giveUp: () => void;
}

function readLines({ output }: RunningProgram, { maxLineBytes, takeLine, giveUp }: LineReading): void {
  let open: Buffer[] = [];
  let openBytes = 0;
  output.on("error", () => {}); // `ended` reports it
  const take = (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      const line = Buffer.concat([...open, chunk.subarray(start, end)]).toString("utf8");
      [open, openBytes, start] = [[], 0, end + 1];
      takeLine(line);
    }
    open.push(chunk.subarray(start));
    openBytes += chunk.length - start;
    if (openBytes <= maxLineBytes) return;
    open = [];
    output.off("data", take);
    giveUp();
  };
  output.on("data", take);
}

// The tools of the MCP servers in the settings, for a model to call. Settings of untrusted layers never get here; a server gets a
// minimal environment, never the keys of providers.

export interface McpToolOptions {
  /** Names in use, such as those of jpg's own tools. */
  readonly taken?: readonly string[];
  /** Ends the opening. */
  readonly signal?: AbortSignal;
  /** Milliseconds in which a server has to be ready; default 10000. */
  readonly openingMs?: number;
}

/** Variables that a server inherits, in addition to its own settings. */
const INHERITED_VARIABLES = ["PATH", "HOME", "LANG", "TERM", "TMPDIR"] as const;

/**
 * Starts the servers of the settings, all at once, and lists their tools. A server that does not start is reported in `problems`.
 * Throws only when the signal ends it; then no server runs on.
 */
export async function openMcpTools(
  { runtime, location }: Workspace,
  config: Config,
  { taken = [], signal, openingMs }: McpToolOptions = {},
): Promise<ToolBox> {
  const cwd = location.project?.root ?? location.root;
  const inherited = Object.fromEntries(INHERITED_VARIABLES.map((name) => [name, runtime.env[name]]));
  const names = Object.keys(config.mcp.servers).sort();
  const settings = names.map((name) => config.mcp.servers[name] ?? {});
  const results = await Promise.allSettled(
    names.map((name, index) =>
      openRestartingServer({
        name,
        settings: settings[index] ?? {},
        cwd,
        version: runtime.version,
        env: { ...inherited, ...settings[index]?.env },
        signal,
        openingMs,
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

// Restarts an MCP server once after it died, at the next call of one of its tools. The call during which it died is not repeated,
// because it may have had effects.

/** Starts a server like `openMcpServer`; after a restart it keeps the tools listed at first. */
export async function openRestartingServer(start: McpServerStart): Promise<McpServer | { readonly problem: string }> {
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
