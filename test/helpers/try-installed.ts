// Runs an installed jpg through its main job, as programs of their own, in a place that has nothing of this machine's: import,
// list, compact, resume; a page; a tool for agents.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
// @ts-expect-error: a script without types
import { addressOf } from "../../scripts/served-address.mjs";
import { jpgEnvironment } from "./run-jpg.ts";
import { initRepository, type TestEnvironment } from "./temp-repository.ts";

const SAMPLE = fileURLToPath(new URL("../../examples/sample-session.jsonl", import.meta.url));

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export interface Installed {
  /** The program's name, found on the PATH, or its path. */
  readonly program: string;
  readonly env: TestEnvironment;
  readonly cwd: string;
}

/** A project and an empty HOME below a folder, for a jpg that is found on this PATH. */
export function placeInstalled(folder: string, program: string, path: string): Installed {
  const place = mkdtempSync(join(folder, "place-"));
  const [home, cwd] = [join(place, "home"), join(place, "tidepool")];
  mkdirSync(home);
  mkdirSync(cwd);
  initRepository(cwd);
  return { program, cwd, env: { ...jpgEnvironment(home), PATH: path } };
}

/** Runs a program to its end. */
export function runIn({ program, env, cwd }: Installed, args: readonly string[], input = ""): Promise<Ran> {
  const child = spawn(program, args, { cwd, env });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  return ended(child);
}

function ended(child: ChildProcessWithoutNullStreams): Promise<Ran> {
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (chunk: Buffer) => {
      said[name] += chunk.toString();
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...said, code }));
  });
}

/** What came of the main job; each part as short as it can be compared. */
export interface MainJob {
  /** Tokens of the view: as imported, without the agent's own summary, compacted. */
  readonly views: readonly number[];
  /** Whether the price of the conversation is known. */
  readonly isPriced: boolean;
  /** The words that continue the session in the agent. */
  readonly resumes: string;
  /** The page of conversations, and of its style and its script whether they came. */
  readonly page: { readonly text: string; readonly parts: readonly boolean[] };
  /** Names of the tools for agents. */
  readonly tools: readonly string[];
}

/** Throws what jpg printed when one of its commands fails. */
export async function tryMainJob(installed: Installed): Promise<MainJob> {
  const run = async (...args: readonly string[]): Promise<string> => {
    const ran = await runIn(installed, args);
    if (ran.code !== 0) throw new Error(`jpg ${args.join(" ")} ended with ${ran.code}: ${ran.stderr}${ran.stdout}`);
    return ran.stdout;
  };
  const views: number[] = [];
  let isPriced = false;
  for (const change of [["import", SAMPLE], ["undo"], ["compact"]]) {
    await run(...change);
    const [only] = JSON.parse(await run("ls", "--json")) as [{ tokens: { view: number }; cost_usd: number | null }];
    views.push(only.tokens.view);
    isPriced = only.cost_usd !== null;
  }
  const resumes = (await run("resume")).trim();
  return { views, isPriced, resumes, page: await openPage(installed), tools: await listTools(installed) };
}

async function openPage({ program, env, cwd }: Installed): Promise<MainJob["page"]> {
  const server = spawn(program, ["serve", "--json"], { cwd, env });
  const end = ended(server);
  try {
    const address = new URL((await addressOf(server)) as string);
    const entry = await fetch(address, { redirect: "manual" });
    const headers = { cookie: entry.headers.get("set-cookie")?.split(";")[0] ?? "" };
    const get = async (path: string): Promise<Response> => fetch(new URL(path, address), { headers });
    const text = await (await get(entry.headers.get("location") ?? "/")).text();
    const paths = [...text.matchAll(/(?:src|href)="([^"]*page\.(?:js|css))"/g)].map(([, path]) => path ?? "");
    return { text, parts: await Promise.all(paths.map(async (path) => (await get(path)).ok)) };
  } finally {
    server.kill();
    await end;
  }
}

async function listTools(installed: Installed): Promise<string[]> {
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const messages = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: hello },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} },
  ];
  const { stdout } = await runIn(installed, ["mcp"], messages.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const answer = stdout.split("\n").find((line) => line.includes('"id":2')) ?? "{}";
  const { result } = JSON.parse(answer) as {
    readonly result?: { readonly tools: readonly { readonly name: string }[] };
  };
  return (result?.tools ?? []).map(({ name }) => name);
}
