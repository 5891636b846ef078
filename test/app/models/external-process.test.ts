import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runPager } from "../../../src/app/models/external-process.ts";

describe("runPager", () => {
  it("gives the whole text to the user's own command line", async () => {
    const folder = await mkdtemp(join(tmpdir(), "jpg-pager-"));
    const file = join(folder, "shown");
    const text = "line\n".repeat(100_000);
    expect(await runPager({ shellCommand: 'cat > "$SHOWN"' }, text, { ...process.env, SHOWN: file })).toBe(true);
    expect(await readFile(file, "utf8")).toBe(text);
    await rm(folder, { recursive: true });
  });

  it("says so when the program does not exist", async () => {
    expect(await runPager({ program: "no-such-pager-here", arguments: [] }, "text", process.env)).toBe(false);
    expect(await runPager({ shellCommand: "no-such-pager-here 2>/dev/null" }, "text", process.env)).toBe(false);
  });

  it("takes a pager that is left early for shown", async () => {
    expect(await runPager({ shellCommand: "true" }, "line\n".repeat(100_000), process.env)).toBe(true);
  });
});
