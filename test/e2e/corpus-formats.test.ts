// Every session of the corpus, whatever its format: it is imported, each line that is no event is named, and its bytes come back.
// Needs the corpus (../shared or JPG_CORPUS).
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { loadBranchTree } from "../../src/app/conversation/tree.ts";
import { exportOriginal } from "../../src/app/import/original.ts";
import { detectFormat } from "../../src/app/sessions/session-registry.ts";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { AGENTS } from "../../src/formats/agents.ts";
import { corpusMissing, listCorpus, readCorpusFile } from "../helpers/corpus.ts";
import { createMemoryWorkspace, importBytes, tipOf } from "../helpers/workspace.ts";

/** Sessions stand in FOLDER/REPOSITORY/FILE. */
const files = listCorpus(".").filter((file) => file.split("/").length === 3);
const because = corpusMissing === null ? "" : ` (SKIPPED: ${corpusMissing})`;

describe.skipIf(corpusMissing !== null)(`the corpus${because}`, () => {
  it("holds sessions of every agent that it has a folder for, and each is known for its agent's", () => {
    expect(files.length).toBeGreaterThanOrEqual(38);
    const known = new Map<string, Set<string>>();
    for (const file of files) {
      const folder = file.split("/")[0]!;
      const { name } = detectFormat(createBufferSource(readCorpusFile(file)), file);
      known.set(folder, (known.get(folder) ?? new Set()).add(name));
    }
    for (const [folder, names] of known) expect([folder, [...names]]).toEqual([folder, [nameOf(folder)]]);
  });

  it.each(files)(
    "%s comes in with nothing unexplained, goes out byte for byte, and is the same the second time",
    async (file) => {
      const bytes = readCorpusFile(file);
      const workspace = await createMemoryWorkspace();
      const report = await importBytes(workspace, bytes);
      expect(report.status).toBe("created");
      expect(report.turns).toBeGreaterThan(0);
      for (const { line, reason } of report.skipped ?? [])
        expect([line, reason]).toEqual([expect.any(Number), expect.stringMatching(/\w/)]);
      const tree = await loadBranchTree(workspace.store, report.branch, await tipOf(workspace, report.branch));
      const pieces: Uint8Array[] = [];
      for await (const piece of await exportOriginal(workspace, tree)) pieces.push(piece);
      expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
      expect(await importBytes(workspace, bytes)).toMatchObject({ status: "unchanged", branch: report.branch });
    },
  );
});

/** The agent that a folder of the corpus is of. */
function nameOf(folder: string): string {
  return AGENTS.find(({ name }) => name === folder || name.startsWith(`${folder}-`))?.name ?? dirname(folder);
}
