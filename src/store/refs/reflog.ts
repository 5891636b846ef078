// Reflogs: what a ref stood at before, one line a change, in git's form (git-reflog(1)). Appended while the ref is locked.
import { dirname, join } from "node:path";
import { appendToOwnFile } from "../files/read-file.ts";
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

/** As git makes them, under the umask of the store. */
const FILE_MODE = 0o666;
/** Refs whose changes git remembers when `core.logAllRefUpdates` is true. */
const LOGGED = /^(HEAD$|refs\/(heads|remotes|notes)\/)/;

/** The reflogs of a repository, while somebody changes refs. */
export interface Reflogs {
  /** Appends to a ref's log, where it has one or should. `gitDir` = whose HEAD is meant, of a linked worktree for one. */
  append(ref: string, step: RefStep, gitDir?: string): void;
}

/** Opens the reflogs for who is changing refs now. */
export async function openReflogs(repository: RefPlace): Promise<Reflogs> {
  const { fs, gitDir: commonDir, isOnDisk } = repository;
  const isLogged = logRule((await readText(repository, join(commonDir, "config"))) ?? "");
  const when = repository.now();
  const who = formatSignature({
    ...(await repository.identity("committer")),
    seconds: Math.floor(when.getTime() / 1000),
    offsetMinutes: -when.getTimezoneOffset(),
  });
  return {
    append(ref, { from, to, message }, gitDir = commonDir) {
      const path = join(gitDir, "logs", ref);
      if (!isLogged(ref) && fs.statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
      fs.mkdirSync(dirname(path), { recursive: true });
      const line = `${from ?? ZERO_ID} ${to ?? ZERO_ID} ${who}\t${message.replace(/\s+/g, " ")}\n`;
      if (isOnDisk) appendToOwnFile(path, line, FILE_MODE);
      else fs.appendFileSync(path, line);
    },
  };
}

/** Forgets the log of a ref that is gone. */
export function removeReflog({ fs, gitDir }: RefPlace, ref: string): void {
  fs.rmSync(join(gitDir, "logs", ref), { force: true });
}

/** Which refs get a log that have none, by the text of the configuration. */
function logRule(config: string): (ref: string) => boolean {
  const setting = readSetting(config, "core.logallrefupdates");
  if (setting?.toLowerCase() === "always") return () => true;
  const isOn = setting === undefined ? !isTrue(readSetting(config, "core.bare")) : isTrue(setting);
  return (ref) => isOn && LOGGED.test(ref);
}
