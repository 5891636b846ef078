// Writes VIEW.md and view.jsonl turn by turn, so that a view of any size needs little memory. Nobody reads half a view, and
// no tree makes jpg write elsewhere: whole files are made in the worktree's git dir and renamed, and only a file that is
// still the very one jpg made is added to.
import { constants, lstat, open } from "node:fs/promises";
import { join } from "node:path";
import type { ProjectedTurn } from "../../core/conversation/event.ts";
import { renderViewLines } from "../../formats/jsonl/write.ts";
import { renderTurnMarkdown } from "../../formats/markdown/write.ts";
import { type Draft, openDraft } from "../../store/files.ts";
import type { Worktree } from "../../store/store.ts";

/** The files of a view, as they were written. */
export interface ViewStamps {
  readonly markdown: FileStamp;
  readonly jsonl: FileStamp;
}

/** Tells a file from any other that may come to stand in its place. */
export interface FileStamp {
  /** Device and number of the file. */
  readonly file: string;
  /** Bytes. */
  readonly size: number;
}

export interface ViewContent {
  readonly turns: AsyncIterable<ProjectedTurn> | Iterable<ProjectedTurn>;
  /** What VIEW.md begins with. */
  readonly heading: string;
}

type ViewPlace = Pick<Worktree, "path" | "gitDir">;

/** Long results are cut in VIEW.md: it is for reading; view.jsonl and `jpg print` have all of it. Lines. */
const MAX_LINES = 60;
/** Text that is collected before it is written. Characters. */
const FLUSHED_CHARACTERS = 1024 * 1024;
/** Adds to a file that is there, follows no link, waits for nobody at the other end of a pipe. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Makes both files anew. */
export async function writeViewFiles(place: ViewPlace, { turns, heading }: ViewContent): Promise<ViewStamps> {
  const markdown = await openDraft(place.gitDir, { isCache: true });
  const jsonl = await openDraft(place.gitDir, { isCache: true });
  try {
    await addTurns({ markdown, jsonl }, turns, heading);
    const paths = viewPaths(place);
    await markdown.moveTo(paths.markdown);
    await jsonl.moveTo(paths.jsonl);
    return await stampsOf(place);
  } finally {
    await Promise.all([markdown.discard(), jsonl.discard()]);
  }
}

/** Adds turns to the files that are there. Null when they are not those that were stamped; they stay as they are then. */
export async function extendViewFiles(
  place: ViewPlace,
  { turns, stamps }: { readonly turns: ViewContent["turns"]; readonly stamps: ViewStamps },
): Promise<ViewStamps | null> {
  const paths = viewPaths(place);
  const markdown = await openStamped(paths.markdown, stamps.markdown);
  const jsonl = markdown === null ? null : await openStamped(paths.jsonl, stamps.jsonl);
  try {
    if (markdown === null || jsonl === null) return null;
    await addTurns({ markdown, jsonl }, turns, "");
    return { markdown: await markdown.stamp(), jsonl: await jsonl.stamp() };
  } finally {
    await Promise.all([markdown?.close(), jsonl?.close()]);
  }
}

/** The stamps of what stands in the two places; of what is not an ordinary file one that no file has. */
export async function stampsOf(place: ViewPlace): Promise<ViewStamps> {
  const stampAt = async (path: string): Promise<FileStamp> => {
    const found = await lstat(path, { bigint: true }).catch(() => null);
    return found?.isFile() === true ? toStamp(found) : { file: "none", size: -1 };
  };
  const { markdown, jsonl } = viewPaths(place);
  const [own, lines] = await Promise.all([stampAt(markdown), stampAt(jsonl)]);
  return { markdown: own, jsonl: lines };
}

function viewPaths({ path }: ViewPlace): { readonly markdown: string; readonly jsonl: string } {
  return { markdown: join(path, "VIEW.md"), jsonl: join(path, "view.jsonl") };
}

function toStamp({ dev, ino, size }: { readonly dev: bigint; readonly ino: bigint; readonly size: bigint }): FileStamp {
  return { file: `${dev}:${ino}`, size: Number(size) };
}

interface StampedFile extends Pick<Draft, "write"> {
  stamp(): Promise<FileStamp>;
  close(): Promise<void>;
}

async function openStamped(path: string, stamp: FileStamp): Promise<StampedFile | null> {
  const file = await open(path, APPEND).catch(() => null);
  if (file === null) return null;
  const read = async (): Promise<FileStamp> => toStamp(await file.stat({ bigint: true }));
  const { file: found, size } = await read();
  if (found !== stamp.file || size !== stamp.size) {
    await file.close();
    return null;
  }
  return {
    write: async (content) => {
      await file.writeFile(content);
    },
    stamp: read,
    close: () => file.close(),
  };
}

async function addTurns(
  files: { readonly markdown: Pick<Draft, "write">; readonly jsonl: Pick<Draft, "write"> },
  turns: ViewContent["turns"],
  heading: string,
): Promise<void> {
  const pending = { markdown: heading, jsonl: "" };
  const flush = async (name: "markdown" | "jsonl"): Promise<void> => {
    await files[name].write(pending[name]);
    pending[name] = "";
  };
  for await (const turn of turns) {
    pending.markdown += renderTurnMarkdown(turn, { maxLines: MAX_LINES });
    pending.jsonl += renderViewLines({ turns: [turn] });
    if (pending.markdown.length > FLUSHED_CHARACTERS) await flush("markdown");
    if (pending.jsonl.length > FLUSHED_CHARACTERS) await flush("jsonl");
  }
  await flush("markdown");
  await flush("jsonl");
}
