// Reflogs: what a ref stood at before, one line a change, in git's form (git-reflog(1)). Appended while the ref is locked.
import { dirname, join } from "node:path";
import { ZERO_ID } from "../object-ids.ts";
import { formatSignature } from "../signature-text.ts";
import { isTrue, readSetting } from "./config-file.ts";
import { type RefPlace, readText } from "./ref-place.ts";

/** A change of a ref; null = it did not exist, or does not any more. */
export interface RefStep {
  readonly from: string | null;
  readonly to: string | null;
  readonly message: string;
}

/** Refs whose changes git remembers when `core.logAllRefUpdates` is true. */
const LOGGED = /^(HEAD$|refs\/(heads|remotes|notes)\/)/;

/** Appends to a ref's log, where it has one or should. `gitDir` = whose HEAD is meant, of a linked worktree for one. */
export async function appendReflog(
  repository: RefPlace,
  ref: string,
  { from, to, message }: RefStep,
  gitDir: string = repository.gitDir,
): Promise<void> {
  const path = join(gitDir, "logs", ref);
  if (!(await isLogged(repository, ref, path))) return;
  const when = repository.now();
  const who = formatSignature({
    ...(await repository.identity("committer")),
    seconds: Math.floor(when.getTime() / 1000),
    offsetMinutes: -when.getTimezoneOffset(),
  });
  const line = `${from ?? ZERO_ID} ${to ?? ZERO_ID} ${who}\t${message.replace(/\s+/g, " ")}\n`;
  repository.fs.mkdirSync(dirname(path), { recursive: true });
  repository.fs.appendFileSync(path, line);
}

/** Forgets the log of a ref that is gone. */
export function removeReflog({ fs, gitDir }: RefPlace, ref: string): void {
  fs.rmSync(join(gitDir, "logs", ref), { force: true });
}

async function isLogged(repository: RefPlace, ref: string, path: string): Promise<boolean> {
  const config = (await readText(repository, join(repository.gitDir, "config"))) ?? "";
  const setting = (readSetting(config, "core.logallrefupdates") ?? "").toLowerCase();
  if (setting === "always") return true;
  const isBare = readSetting(config, "core.bare")?.toLowerCase() === "true";
  const isOn = setting === "" ? !isBare : isTrue(setting);
  if (isOn && LOGGED.test(ref)) return true;
  return (await readText(repository, path)) !== null;
}
