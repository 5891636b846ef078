// What the script of the hooks does, for agents on Windows: puts an agent's session into the spool and starts jpg in the background to
// import it. Here the agent waits for node to start.
import { constants, copyFileSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolders, renameFile } from "../../store/files.ts";
import { type Runtime, startWords } from "../conversation/runtime.ts";
import { startInBackground } from "../models/external-process.ts";
import { hookPaths, readHookEvent } from "./spool.ts";

/** Puts a session into the spool; returns its entry there. `event` = what the agent's hook was given, `agent` = its format's name. */
export function keepSession(
  runtime: Runtime,
  { agent, event }: { readonly agent: string; readonly event: string },
): string {
  const { spool } = hookPaths(runtime);
  makeFolders(spool, 0o700);
  const entry = mkdtempSync(join(spool, "keep-"));
  const write = (name: string, text: string): void => writeFileSync(join(entry, name), text, { mode: 0o600 });
  write("event", event);
  write("agent", agent);
  const { transcript } = readHookEvent(event);
  try {
    if (transcript !== null && statSync(transcript).isFile()) {
      copyFileSync(transcript, join(entry, "draft"), constants.COPYFILE_FICLONE);
      renameFile(join(entry, "draft"), join(entry, "session"));
    }
  } catch {
    // Gone already, or not readable: jpg looks for the session by what the event says.
  }
  write("ready", "");
  startInBackground([...startWords(runtime), "sync", "--spool", "--quiet"], { cwd: spool, env: runtime.env });
  return entry;
}
