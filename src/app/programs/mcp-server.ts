// One MCP server that jpg started: the handshake, its tools, calls to them. Whatever a server does (not there, dead,
// silent, talking rubbish) comes back as a sentence that names it and the setting to change; nothing waits without end.
import { type CallToolResult, Client } from "@modelcontextprotocol/client";
import type { McpServerConfig } from "../../config/config.ts";
import { formatKey } from "../../config/keys.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import { startProgram } from "./external-process.ts";
import { toToolResult } from "./mcp-result.ts";
import { createProgramTransport, type ProgramTransport } from "./mcp-transport.ts";
import type { RunningProgram } from "./running-program.ts";
import type { ToolCallOptions, ToolResult } from "./tool-box.ts";

/** Time for the handshake and the list of tools together, milliseconds. */
export const OPENING_MS = 10_000;
/** Time for a call where the settings say nothing, milliseconds. */
export const CALL_MS = 60_000;
/** How much of what a server said last is kept and shown, characters. */
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
  /** In the order listed, all pages. */
  readonly tools: readonly ListedTool[];
  /** Calls a tool. What goes wrong is a result with `isError`; throws only when the signal ends the call. */
  call(tool: string, args: Readonly<Record<string, unknown>>, options: ToolCallOptions): Promise<ToolResult>;
  /** How its program ended, e.g. `ended with exit code 7`; null while it runs. */
  ended(): string | null;
  close(): Promise<void>;
}

/** What a server is started with. */
export interface McpServerStart {
  readonly name: string;
  readonly settings: McpServerConfig;
  readonly cwd: string;
  /** Of this jpg, which the server is told. */
  readonly version: string;
  /** The whole environment it gets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  /** Default `OPENING_MS`. */
  readonly openingMs?: number;
}

/** Starts a server and lists its tools, or says in a sentence why that could not be done. Throws only when the signal ends it. */
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

/** A connection with what is known of how it goes. */
interface Session {
  readonly client: Client;
  readonly transport: ProgramTransport;
  /** Why something failed; completes "MCP server X …". `seconds`: the time it had. */
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
  program.errors.on("error", () => {}); // the program's end tells
  program.errors.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-KEPT_ERRORS);
  });
  const shown = (text: string): string => hideSecrets(text, start.settings).slice(0, SHOWN_ERROR).trim();
  return {
    client,
    transport,
    ended: () => how ?? transport.givenUp(),
    async whyFailed(error, seconds) {
      // That it closed is known before how it ended.
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
    // Not `callTool` of the client: a result that breaks the server's own output schema is still worth more than none.
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

/** Settings may hold keys, and a server may print them: values of its environment, and arguments that are no paths. */
function hideSecrets(text: string, { env = {}, args = [] }: McpServerConfig): string {
  const secrets = [...Object.values(env), ...args.filter((arg) => !/^[./]/.test(arg))];
  return secrets.filter((value) => value.length >= 4).reduce((left, value) => left.replaceAll(value, "…"), text);
}
