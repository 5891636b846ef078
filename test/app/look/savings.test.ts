// What compactions saved so far: only of requests that ran on the shortened view, by the provider's own count.
import { describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { readStats } from "../../../src/app/look/stats.ts";
import { createPiWriter, type PiWriter } from "../../helpers/pi-session.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

const START = Date.parse("2026-01-02T10:00:00.000Z");
/** System prompt and tools, tokens. */
const FRONT = 10_000;
/** Characters of a request, of an answer, of a long one. */
const WORDS = 40;
const LONG = 40_000;

interface Written {
  readonly session: PiWriter;
  readonly workspace: TestWorkspace;
  /** Adds turns with requests that send all that was said, or less by `unsent` tokens. */
  turns(count: number, options?: { readonly unsent?: number; readonly chars?: number; readonly model?: string }): void;
  import(): Promise<BranchTree>;
}

async function begin(): Promise<Written> {
  const workspace = await createMemoryWorkspace();
  const session = createPiWriter();
  let said = 0;
  return {
    session,
    workspace,
    turns(count, { unsent = 0, chars = LONG, model = "claude-sonnet-4-5" } = {}) {
      for (let turn = 0; turn < count; turn += 1) {
        session.user("a word of five letters. ".repeat(2).slice(0, WORDS));
        said += WORDS;
        const size = FRONT + Math.round(said / 4) - unsent;
        const usage = { input: 10, output: chars / 4, cacheRead: size - 110, cacheWrite: 100, totalTokens: size };
        const content = [{ type: "text", text: "some ".repeat(chars / 5) }];
        const made = { api: "anthropic-messages", provider: "anthropic", model, stopReason: "stop" };
        const timestamp = START + session.lines.length * 1000;
        session.add({ type: "message", message: { role: "assistant", timestamp, content, usage, ...made } });
        said += chars;
      }
    },
    async import() {
      const { branch } = await importBytes(workspace, session.bytes());
      return loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
    },
  };
}

/** Leaves out the first turns, at the time of the session's newest line. */
async function omit({ workspace, session }: Written, tree: BranchTree, turn: number = 3): Promise<number> {
  const runtime = { ...workspace.runtime, now: () => new Date(START + session.lines.length * 1000 - 500) };
  const at = { type: "turn", turn } as const;
  const { tokens } = await compact({ ...workspace, runtime }, tree, {
    range: { to: at },
    policies: { turns: "omit" },
    index: false,
    activate: true,
  });
  return tokens.before - tokens.after;
}

const statsOf = async (written: Written) => (await readStats(written.workspace, await written.import())).saved;

describe("saved so far", () => {
  it("is what requests on the shortened view did not send, less what the first wrote to the cache anew", async () => {
    const written = await begin();
    written.turns(8, {});
    const hidden = await omit(written, await written.import());
    expect(hidden).toBeGreaterThan(35_000);
    expect(await statsOf(written)).toBeUndefined();
    written.turns(2, { unsent: hidden, chars: WORDS });
    const saved = await statsOf(written);
    expect(saved).toMatchObject({ requests: 2, tokens: 2 * hidden });
    // Claude Sonnet 4.5: 0.30 $/M read, 3.75 $/M written. The first request wrote 100 tokens that it would have read.
    expect(saved?.usd).toBeCloseTo((2 * hidden * 0.3 - 100 * (3.75 - 0.3)) / 1e6, 9);
  });

  it("counts no request that sent all of it: the agent's own session went on", async () => {
    const written = await begin();
    written.turns(8);
    await omit(written, await written.import());
    written.turns(2, { chars: WORDS });
    expect(await statsOf(written)).toBeUndefined();
  });

  it("counts only the requests that were the short ones where both went on", async () => {
    const written = await begin();
    written.turns(8);
    const hidden = await omit(written, await written.import());
    written.turns(1, { chars: WORDS });
    written.turns(3, { unsent: hidden, chars: WORDS });
    expect(await statsOf(written)).toMatchObject({ requests: 3, tokens: 3 * hidden });
  });

  it("says tokens only where a price is not known", async () => {
    const written = await begin();
    const model = "claude-unheard-of-1";
    written.turns(8, { model });
    const hidden = await omit(written, await written.import());
    written.turns(1, { unsent: hidden, chars: WORDS, model });
    expect(await statsOf(written)).toEqual({ requests: 1, tokens: hidden, usd: null });
  });

  it("is nothing where nothing was compacted, or too few requests were counted to tell", async () => {
    const never = await begin();
    never.turns(8);
    expect(await statsOf(never)).toBeUndefined();
    const few = await begin();
    few.turns(3);
    await omit(few, await few.import(), 1);
    few.turns(1, { unsent: 20_000, chars: WORDS });
    expect(await statsOf(few)).toBeUndefined();
  });
});
