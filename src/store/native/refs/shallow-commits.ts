// Where the history of a shallow clone ends.
import { join } from "node:path";
import { readFileIfThere } from "./ref-reader.ts";

/** Reads the ids of the commits whose parents git has left out; empty where history is whole. */
export async function readShallowCommits(gitDir: string): Promise<ReadonlySet<string>> {
  const text = (await readFileIfThere(join(gitDir, "shallow"))) ?? "";
  return new Set(text.split("\n").filter((line) => line !== ""));
}
