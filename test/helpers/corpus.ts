// Real session files and what the real agents sent for them, where this machine has them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

const named = resolve(root, process.env["JPG_CORPUS"] ?? "../shared");

/** Folder with `corpus/`, `goldens/` and `agents/`: JPG_CORPUS (it, or the corpus inside it), or `../shared`. */
export const sharedFolder = basename(named) === "corpus" ? dirname(named) : named;

/** Why tests on real sessions cannot run; null when they can. */
export const corpusMissing: string | null = existsSync(join(sharedFolder, "corpus", "INDEX.tsv"))
  ? null
  : `no session corpus at ${sharedFolder} (set JPG_CORPUS)`;

export interface Golden {
  /** Path of the golden below `goldens/`. */
  readonly golden: string;
  /** Path of the session below `corpus/`. */
  readonly file: string;
  readonly model: string;
}

/** The goldens of one agent; empty when the corpus is missing. */
export function listGoldens(agent: string): readonly Golden[] {
  if (corpusMissing !== null) return [];
  const rows = readFileSync(join(sharedFolder, "goldens", "INDEX.tsv"), "utf8")
    .trim()
    .split("\n")
    .slice(1);
  return rows
    .map((row) => row.split("\t"))
    .filter(([golden]) => golden!.startsWith(`${agent}-`))
    .map(([golden, file, model]) => ({ golden: golden!, file: file!, model: model! }));
}

/** The sessions of one agent in the corpus, paths below `corpus/`; empty when the corpus is missing. */
export function listCorpus(agent: string): readonly string[] {
  if (corpusMissing !== null) return [];
  const folder = join(sharedFolder, "corpus");
  return readdirSync(join(folder, agent), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

export function readCorpusFile(file: string): Buffer {
  return readFileSync(join(sharedFolder, "corpus", file));
}

export function readGolden(golden: string): unknown {
  return JSON.parse(readFileSync(join(sharedFolder, "goldens", golden), "utf8"));
}

/** States of one session, each a byte prefix of the next; paths below `corpus/`. */
export const GROWTH_SERIES: readonly string[] = [
  "ce_258fedd6ee_1",
  "04_4ed289c318_1",
  "d3_8f8f80fa82_1",
  "57_f1f346970c_1",
  "b0_36f59168c8_1",
  "f7_a71cacaeea_1",
].map((name) => `claude-code/entireio__cli/${name}.jsonl`);
