// A session of OpenCode as versions before 1.2 kept it: the files that its document is taken apart into.
import { posix } from "node:path";
import { joinScattered, listScattered } from "../../src/formats/opencode/store.ts";
import type { ScatteredFile } from "../../src/formats/session-source.ts";

type Json = Record<string, unknown>;
interface Document {
  readonly info: Json;
  readonly messages: readonly { readonly info: Json; readonly parts: readonly Json[] }[];
}

/** Where the files stood: below `storage`, or in each project's own folder before that. */
export type ScatteredLayout = "storage" | "project";

/** The files of a session by path from `storage`, the one that describes it first; written as OpenCode writes them. */
export function scatterOpenCode(text: string, layout: ScatteredLayout = "storage"): Map<string, string> {
  const { info, messages } = JSON.parse(text) as Document;
  const id = String(info["id"]);
  const [own, messageFolder] =
    layout === "storage" ? [`session/prj/${id}`, `message/${id}`] : [`session/info/${id}`, `session/message/${id}`];
  const partFolder = layout === "storage" ? "part" : `session/part/${id}`;
  const files = new Map([[`${own}.json`, write(info)]]);
  const names = namesOf(
    messages.map((message) => message.info),
    "msg_",
  );
  for (const [at, message] of messages.entries()) {
    const name = names[at]!;
    const parts = namesOf(message.parts, "prt_");
    files.set(`${messageFolder}/${name}.json`, write(message.info));
    for (const [n, part] of message.parts.entries()) files.set(`${partFolder}/${name}/${parts[n]!}.json`, write(part));
  }
  return files;
}

/** The text that is read of files, by path from `storage`. */
export function joinOpenCode(files: ReadonlyMap<string, string>): string {
  const root = "/data/opencode/storage";
  const paths = [...files.keys()];
  const namesIn = (folder: string): readonly string[] => {
    const below = `${posix.relative(root, folder)}/`;
    const names = paths.filter((path) => path.startsWith(below)).map((path) => path.slice(below.length).split("/")[0]!);
    return [...new Set(names)].sort();
  };
  const listed = listScattered({ join: posix.join, namesIn }, `${root}/${paths[0]}`) ?? [];
  const named = listed.map((path): ScatteredFile => {
    const name = posix.relative(root, path);
    return { path: name, text: files.get(name) ?? null };
  });
  return joinScattered(named);
}

function write(value: Json): string {
  return JSON.stringify(value, null, 2);
}

/** Files are called by id; where ids were made unreadable, all by place. */
function namesOf(list: readonly Json[], prefix: string): readonly string[] {
  const ids = list.map((fields) => String(fields["id"]));
  const isWhole = ids.every((id) => id.startsWith(prefix));
  return isWhole ? ids : ids.map((_, at) => `${prefix}${String(at).padStart(6, "0")}`);
}
