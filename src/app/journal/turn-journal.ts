// The journal of the turn that is being talked, one file in the store's git dir: what a model says is in it before anyone is
// shown it. The file is also the lock of its branch: it is created exclusively, and names the process that writes it.
import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import type { ChatResponse, Event } from "../../core/conversation/event.ts";
import { codeOf, type JpgError, reasonOf, repositoryError, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { makeFolders, syncFolders } from "../../store/files.ts";
import { ABANDONED, abandonJournal, journalPath, readJournalHead, removeJournal } from "./journal-files.ts";
import { formatJournalLine, type JournalHead, type JournalLine } from "./journal-lines.ts";

/** An open journal. What writes throws `disk_full` or `journal_not_written`, from then on each time; what was written stays. */
export interface TurnJournal {
  readonly path: string;
  /** Begins an event whose text streams. */
  open(event: ChatResponse): void;
  /** Adds to the text of an event that was begun. */
  delta(id: string, text: string): void;
  /** Writes a whole event, in place of what was begun with its id; it is on its way to the disk then. */
  event(event: Event): void;
  /** Says of whom and where the turn is, anew. */
  head(head: JournalHead): void;
  /** Says that the turn is as it should be, and waits until everything is on the disk. */
  complete(): Promise<void>;
  /** Takes the journal away: the turn is committed, or is not to be kept. */
  remove(): Promise<void>;
  /** Leaves the journal to whoever opens the store next; resolves to where it is. */
  leave(): Promise<string>;
}

const sync = promisify(fdatasync);

/** Opens the journal of a branch's turn. Throws `turn_open` when another process has one open, `disk_full`, `journal_not_written`. */
export async function openJournal(folder: string, head: JournalHead): Promise<TurnJournal> {
  const path = journalPath(folder, head.branch);
  try {
    makeFolders(folder);
  } catch (error) {
    throw notWritten(path, error);
  }
  const file = openExclusively(path);
  if (file === null) throw turnOpen(head.branch, path, (await readJournalHead(path))?.writer.pid);
  const lines = createLineWriter(path, file);
  try {
    lines.write(head);
    await syncFolders([folder]);
  } catch (error) {
    await lines.close();
    await removeJournal(path, null);
    throw error;
  }
  return {
    path,
    open: (event) => lines.write({ open: event }),
    delta: (id, text) => lines.write({ delta: text, id }),
    event: (event) => {
      lines.write({ event });
      lines.flush();
    },
    head: (anew) => lines.write(anew),
    complete: async () => {
      lines.write({ complete: true });
      lines.flush();
      await lines.settled();
    },
    remove: async () => {
      await lines.close();
      await removeJournal(path, head.start);
    },
    leave: async () => {
      await lines.close();
      return abandonJournal(path, head.start);
    },
  };
}

interface LineWriter {
  write(line: JournalHead | JournalLine): void;
  /** Begins to bring what was written to the disk. */
  flush(): void;
  /** Resolves when it is there. Throws what went wrong with any line. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

function createLineWriter(path: string, file: number): LineWriter {
  let flushed: Promise<void> = Promise.resolve();
  let failure: JpgError | null = null;
  const check = (): void => {
    if (failure !== null) throw failure;
  };
  return {
    write: (line) => {
      check();
      try {
        writeAll(file, formatJournalLine(line));
      } catch (error) {
        failure = notWritten(path, error);
        throw failure;
      }
    },
    flush: () => {
      flushed = flushed
        .then(() => sync(file))
        .catch((error: unknown) => {
          failure ??= notWritten(path, error);
        });
    },
    settled: async () => {
      await flushed;
      check();
    },
    close: async () => {
      await flushed;
      closeSync(file);
    },
  };
}

function openExclusively(path: string): number | null {
  try {
    return openSync(path, "ax");
  } catch (error) {
    if (codeOf(error) === "EEXIST") return null;
    throw notWritten(path, error);
  }
}

/** A write may take only a part of the bytes when the disk is nearly full. */
function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function notWritten(path: string, cause: unknown): JpgError {
  if (["ENOSPC", "EDQUOT"].includes(codeOf(cause))) {
    return repositoryError("disk_full", `The disk is full: the turn cannot be saved to ${path}.`, {
      hints: ["Free space; nothing that was shown is lost."],
      cause,
    });
  }
  const reason = reasonOf(cause);
  return repositoryError("journal_not_written", `The turn cannot be saved to ${path}: ${reason}.`, {
    hints: ["Make the store's folder writable and run the command again."],
    cause,
  });
}

function turnOpen(branch: string, path: string, pid: number | undefined): JpgError {
  const whose = pid === undefined ? "another jpg" : `another jpg (process ${pid})`;
  return userError("turn_open", `A turn of ${branch} is open: ${whose} is talking to a model there.`, {
    hints: [
      "Meanwhile, `jpg query --fork …` asks on a fork of it.",
      `If that process is not jpg: mv '${path}' '${path}${ABANDONED}'; the next jpg command then commits what has arrived of the turn.`,
    ],
    data: { branch, ...defined({ pid }) },
  });
}
