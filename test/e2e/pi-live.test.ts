// @module-tag slow
// jpg inside the running pi: it is compacted, works on, is compacted again, taken back, and resumed without the extension; what it
// sends is jpg's view each time. Needs the agents (JPG_AGENTS_DIR).
import { afterEach, describe, expect, it } from "vitest";
import { linesOf, type ModelRequest } from "../agents/acting-model.ts";
import { createPiPlace, type PiPlace, type PiPlaceOptions, type PiSession } from "../agents/pi-live.ts";
import { piPrograms } from "../helpers/real-pi.ts";

type Json = Record<string, unknown>;

const newer = piPrograms.find(({ version }) => !version.startsWith("0."));
const older = piPrograms.find(({ version }) => version.startsWith("0."));
const why = (found: unknown): string => (found === undefined ? " (SKIPPED: set JPG_AGENTS_DIR)" : "");
const TIME = 240_000;

let place: PiPlace;
afterEach(() => place.close());

/** The messages of a request without the marks that move with its end. */
function uncached({ messages }: ModelRequest, count?: number): unknown {
  return JSON.parse(
    JSON.stringify(messages.slice(0, count), (key, value) => (key === "cache_control" ? undefined : value)),
  );
}

function thoughtsIn({ messages }: ModelRequest): number {
  return messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "thinking").length;
}

async function view(): Promise<readonly string[]> {
  return linesOf(JSON.parse(await place.jpg("export", "--to", "anthropic", "--messages")) as ModelRequest);
}

async function logKinds(): Promise<readonly string[]> {
  const log = JSON.parse(await place.jpg("log", "--json")) as readonly {
    readonly kind: string;
    readonly source: string;
  }[];
  return log.map(({ kind, source }) => (source === "import" ? `${kind} of the agent` : kind)).reverse();
}

async function start(options: Partial<PiPlaceOptions> & Pick<PiPlaceOptions, "program">): Promise<PiSession> {
  place = await createPiPlace(options);
  return place.open();
}

async function readFiles(pi: PiSession, names: string): Promise<void> {
  for (const name of names) await pi.prompt(`call read {"path":"${name}.txt"}`);
}

describe(`real agent: jpg inside pi ${newer?.version ?? ""}${why(newer)}`, () => {
  it.skipIf(newer === undefined)(
    "compacts by edits, twice, takes both back; what is sent is the view, with and without the extension",
    { timeout: TIME },
    async () => {
      const pi = await start({ program: newer as NonNullable<typeof newer> });
      await readFiles(pi, "abcdab");
      await pi.command("/jpg-compact");
      expect(pi.told().at(-1)).toBe("jpg compacts at the end of the next turn.");
      const whole = await pi.prompt("the turn that ends in a compaction");
      expect(pi.told().at(-1)).toMatch(/^Compacted by jpg, .* Nothing is lost: \/jpg-undo undoes it\./);
      const first = await pi.prompt("after the first");
      expect(linesOf(first).join("\n").length).toBeLessThan(linesOf(whole).join("\n").length);
      // Of what is not compacted, thinking stays.
      expect(thoughtsIn(first)).toBeGreaterThan(0);
      await readFiles(pi, "cd");
      await pi.command("/jpg-compact heavy");
      await pi.prompt("the turn that ends in the second");
      const second = await pi.prompt("after the second");
      expect(linesOf(second)[0]).toBe("user: [Summary of previous conversation]");
      await pi.command("/jpg-undo");
      await pi.prompt("the second is taken back");
      const undone = await pi.prompt("after the first undo");
      expect(linesOf(undone).slice(0, linesOf(first).length)).toEqual(linesOf(first));
      await pi.command("/jpg-undo");
      await pi.prompt("the first is taken back");
      const all = await pi.prompt("after the second undo");
      expect(linesOf(all).slice(0, linesOf(whole).length)).toEqual(linesOf(whole));
      // Undoing is complete: every thought is sent again.
      expect(thoughtsIn(all)).toBe(all.messages.filter(({ role }) => role === "assistant").length);
      await pi.quit();
      const resumed = await place.resume("resumed");
      expect(uncached(resumed, all.messages.length)).toEqual(uncached(all));
      await place.jpg("import", place.session());
      expect(await view()).toEqual([...linesOf(resumed), `assistant: Answer ${place.model.requests.length}.`]);
      expect(await logKinds()).toEqual(["compaction", "compaction", "revert", "revert"]);
      expect(await place.jpg("fsck")).toMatch(/^nothing wrong in 1 branch/);
      const turns = JSON.parse(await place.jpg("stats", "--json")) as { readonly turns: number };
      expect(turns.turns).toBe(place.lines().filter((line) => (line["message"] as Json)?.["role"] === "user").length);
    },
  );

  it.skipIf(newer === undefined)(
    "meets pi's own threshold by edits at the end of the turn before",
    { timeout: TIME },
    async () => {
      const pi = await start({ program: newer as NonNullable<typeof newer>, window: 60_000 });
      await readFiles(pi, "abcdabcd");
      place.model.plan = () => ({ tokens: 50_000 });
      await pi.prompt("the window is full now");
      place.model.plan = () => ({});
      const after = await pi.prompt("after it");
      const types = place.lines().map(({ type }) => type);
      expect(types).toContain("context_edit");
      expect(types).not.toContain("compaction");
      expect(thoughtsIn(after)).toBeGreaterThan(0);
    },
  );

  it.skipIf(newer === undefined)("gives /compact jpg's summary and the tail, marked", { timeout: TIME }, async () => {
    const pi = await start({ program: newer as NonNullable<typeof newer> });
    await readFiles(pi, "abcdab");
    await pi.compact();
    const compaction = place.lines().find(({ type }) => type === "compaction");
    expect(JSON.stringify(compaction?.["details"])).toMatch(/\[jpg 1 compact /);
    expect(place.model.others).toEqual([]);
    const after = await pi.prompt("after it");
    expect(linesOf(after)[0]).toContain("was compacted into the following summary");
  });

  it.skipIf(newer === undefined)(
    "goes on as if jpg were not there where it is missing or killed",
    { timeout: TIME },
    async () => {
      for (const jpg of [
        ["/nowhere/jpg", "live"],
        [process.execPath, "-e", "process.kill(process.pid, 9)"],
      ]) {
        const pi = await start({ program: newer as NonNullable<typeof newer>, jpg });
        await readFiles(pi, "ab");
        await pi.command("/jpg-compact");
        await pi.prompt("nothing happens");
        const after = await pi.prompt("go on");
        expect(linesOf(after).at(-1)).toBe("user: go on");
        const compacted = await pi.compact();
        expect(compacted["success"]).toBe(true);
        expect(place.model.others.length).toBeGreaterThan(0);
        await place.close();
      }
    },
  );
});

describe(`real agent: jpg inside pi ${older?.version ?? ""}${why(older)}`, () => {
  it.skipIf(older === undefined)(
    "compacts by summary and tail at once, and takes it back",
    { timeout: TIME },
    async () => {
      const pi = await start({ program: older as NonNullable<typeof older> });
      await readFiles(pi, "abcdab");
      const whole = place.model.requests.at(-1) as ModelRequest;
      await pi.command("/jpg-compact");
      await pi.waitFor(({ type }) => type === "compaction_end");
      const first = await pi.prompt("after the first");
      expect(linesOf(first)[0]).toContain("was compacted into the following summary");
      expect(JSON.stringify(place.lines().find(({ type }) => type === "compaction")?.["details"])).toMatch(
        /\[jpg 1 compact /,
      );
      await pi.command("/jpg-undo");
      await new Promise((resolve) => setTimeout(resolve, 5000));
      const undone = await pi.prompt("after the undo");
      expect(linesOf(undone).slice(1, linesOf(whole).length + 1)).toEqual(linesOf(whole));
      await pi.quit();
      const resumed = await place.resume("resumed");
      expect(uncached(resumed, undone.messages.length)).toEqual(uncached(undone));
      await place.jpg("import", place.session());
      expect(await place.jpg("fsck")).toMatch(/^nothing wrong in 1 branch/);
    },
  );
});
