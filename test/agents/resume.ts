// Lets a real agent resume a session of conformance/ and says what it sent to its model. The session's file stays as it is; nothing
// of this machine's settings reaches the agent, and it reaches no address but loopback.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { DRIVERS, type InstalledAgent, type Run, type SessionCase } from "./drivers.ts";
import { type AskedRequest, startModelServer } from "./model-server.ts";
import { readSent, type SentMessage } from "./sent-messages.ts";

/** One word that no session holds: OpenCode puts several into quotes. */
const PROMPT = "continue-as-recorded";

/** Longest run of an agent, milliseconds. */
const TIME_LIMIT = 90_000;

/** Resumes a session; throws when the agent refuses it, with what it said. */
export async function resumeCase(session: SessionCase, agent: InstalledAgent): Promise<readonly SentMessage[]> {
  const driver = DRIVERS[session.agent];
  if (driver === undefined) throw new Error(`No driver for ${session.agent}.`);
  const root = realpathSync(mkdtempSync(join(tmpdir(), "jpg-agent-")));
  const [home, work] = [join(root, "home"), join(root, "work")];
  for (const folder of [home, work]) mkdirSync(folder);
  const server = await startModelServer();
  try {
    const plan = driver.prepare(session, { home, work, url: server.url }, PROMPT);
    const said = await runAll(agent, plan, { home, work });
    const request = findRequest(server.requests);
    if (request === undefined) throw new Error(`${session.agent} did not ask its model. It said: ${said.slice(-600)}`);
    return JSON.parse(JSON.stringify(readSent(request, PROMPT, driver.own)).replaceAll(root, "/RUN")) as SentMessage[];
  } finally {
    await server.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The first request with the prompt that offers tools: others are for titles. */
function findRequest(requests: readonly AskedRequest[]): AskedRequest | undefined {
  const asked = requests.filter(({ body }) => JSON.stringify(body).includes(PROMPT));
  return asked.find(({ body }) => Array.isArray(body["tools"]) && body["tools"].length > 0) ?? asked[0];
}

const CLOSED = "http://127.0.0.1:9";

async function runAll(
  agent: InstalledAgent,
  { runs, env }: Run,
  { home, work }: { home: string; work: string },
): Promise<string> {
  const path = [...(agent.node === undefined ? [] : [agent.node]), dirname(process.execPath), "/usr/bin", "/bin"];
  const whole = {
    PATH: path.join(delimiter),
    HOME: home,
    TMPDIR: dirname(home),
    LANG: "C.UTF-8",
    TZ: "UTC",
    TERM: "dumb",
    CI: "1",
    HTTP_PROXY: CLOSED,
    HTTPS_PROXY: CLOSED,
    ALL_PROXY: CLOSED,
    NO_PROXY: "127.0.0.1,localhost",
    ...env,
  };
  let said = "";
  for (const args of runs) said = await runOnce(agent.program, args, { cwd: work, env: whole });
  return said;
}

function runOnce(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (said += bytes.toString()));
    const end = (): void => {
      // The agent and what it has started.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    const timer = setTimeout(end, TIME_LIMIT);
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
      resolve(said);
    });
  });
}
