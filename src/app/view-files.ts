// Writes VIEW.md and view.jsonl turn by turn, so that a view of any size needs little memory. Nobody reads half a view:
// whole files are written beside the old ones and renamed.
import { appendFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ProjectedTurn } from "../core/view.ts";
import { renderViewLines } from "../formats/jsonl/export.ts";
import { renderTurnMarkdown } from "../formats/markdown/export.ts";

export interface ViewSizes {
  /** Sizes of the files, in bytes. */
  readonly markdownBytes: number;
  readonly jsonlBytes: number;
}

export interface ViewContent {
  readonly turns: AsyncIterable<ProjectedTurn> | Iterable<ProjectedTurn>;
  /** What VIEW.md begins with; absent = the turns are added to the files that are there. */
  readonly heading?: string;
}

/** Long results are cut in VIEW.md: it is for reading; view.jsonl and `jpg print` have all of it. Lines. */
const MAX_LINES = 60;
/** Text that is collected before it is written. Characters. */
const CHUNK = 1024 * 1024;

/** Writes both files in a folder, or adds to them. Gives the bytes written to each. */
export async function writeViewFiles(folder: string, { turns, heading }: ViewContent): Promise<ViewSizes> {
  const markdown = openText(join(folder, "VIEW.md"), heading !== undefined);
  const jsonl = openText(join(folder, "view.jsonl"), heading !== undefined);
  try {
    await markdown.add(heading ?? "");
    for await (const turn of turns) {
      await markdown.add(renderTurnMarkdown(turn, { maxLines: MAX_LINES }));
      await jsonl.add(renderViewLines({ turns: [turn] }));
    }
    return { markdownBytes: await markdown.finish(), jsonlBytes: await jsonl.finish() };
  } finally {
    await Promise.all([markdown.giveUp(), jsonl.giveUp()]);
  }
}

interface TextFile {
  add(text: string): Promise<void>;
  /** Gives the bytes written. */
  finish(): Promise<number>;
  /** Removes what was not finished. */
  giveUp(): Promise<void>;
}

function openText(path: string, isNew: boolean): TextFile {
  const target = isNew ? `${path}.${process.pid}.tmp` : path;
  let pending = "";
  let bytes = 0;
  let isStarted = !isNew;
  const flush = async (): Promise<void> => {
    const text = Buffer.from(pending);
    pending = "";
    await (isStarted ? appendFile(target, text) : writeFile(target, text));
    isStarted = true;
    bytes += text.length;
  };
  return {
    async add(text) {
      pending += text;
      if (pending.length > CHUNK) await flush();
    },
    async finish() {
      await flush();
      if (isNew) await rename(target, path);
      return bytes;
    },
    async giveUp() {
      if (isNew) await rm(target, { force: true });
    },
  };
}
