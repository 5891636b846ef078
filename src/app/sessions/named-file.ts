// Writes a result to a file that the user named, and never over the only copy of a session: what an agent keeps, or wrote.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { userError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { AgentFormat } from "../../formats/agent-format.ts";
import type { FileContent } from "../../store/files.ts";
import { type Runtime, writeResultFile } from "../conversation/runtime.ts";
import { isWithin } from "./agent-stores.ts";
import { readSessionSource } from "./session-files.ts";
import { agents, machineOf } from "./session-registry.ts";

/**
 * Writes a file; another one of its name is replaced. Throws `would_lose_session`, and as `writeResultFile` does: then nothing has
 * changed.
 */
export async function writeNamedFile(runtime: Runtime, path: string, content: FileContent): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true && !isContinued(path, content)) {
    const reason = keeperOf(runtime, path) ?? (await writerOf(runtime, path));
    if (reason !== null)
      throw userError("would_lose_session", `${path} ${reason}, and would be replaced.`, {
        hints: [`Name another file, or move this one away first: mv ${shellWord(path)} ${shellWord(`${path}.old`)}`],
      });
  }
  await writeResultFile(path, content);
}

/** Whether the new content is the old one, with more after it. */
function isContinued(path: string, content: FileContent): boolean {
  if (typeof content !== "string" && !(content instanceof Uint8Array)) return false;
  try {
    const now = readFileSync(path);
    return now.equals(Buffer.from(content).subarray(0, now.length));
  } catch {
    return false; // writing it says why it cannot be read
  }
}

/** A file in an agent's own folder may hold what was said since jpg wrote it. */
function keeperOf(runtime: Runtime, path: string): string | null {
  const machine = machineOf(runtime);
  const real = realpathSync(path);
  const keeper = agents().find(({ setup }) => {
    const folder = setup?.folder(machine);
    return folder !== undefined && isWithin(real, realPathOf(folder));
  });
  return keeper === undefined ? null : `is in the folder of ${keeper.agent.name}`;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // it does not exist
  }
}

async function writerOf(runtime: Runtime, path: string): Promise<string | null> {
  try {
    const source = await readSessionSource(runtime, { path, named: true });
    const format = agents().find((candidate) => candidate.detect(source));
    if (format === undefined || !keepsSessions(format) || format.origin(source) !== null) return null;
    return `is a session of ${format.agent.name} that jpg did not write`;
  } catch {
    return null; // no file that jpg can read as a session
  }
}

/** Whether it is a format of sessions, which have a place or parents: requests to an API have neither, and scripts write them again. */
function keepsSessions({ files, descent }: AgentFormat): boolean {
  return files.folders !== undefined || descent !== undefined;
}
