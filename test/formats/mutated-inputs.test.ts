// @module-tag law
// Whatever a file holds: a format reads it, or says in words why not, at once and in little memory. In the suite a few inputs
// for each format; `npm run explore -- --inputs 100000 [FORMAT…]` takes as many as are wanted.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agents } from "../../src/app/sessions/session-registry.ts";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { JpgError } from "../../src/core/errors.ts";
import type { AgentFormat } from "../../src/formats/agent-format.ts";
import type { ImportedTurns } from "../../src/formats/imported-session.ts";
import { mutatedInput } from "../helpers/mutated-inputs.ts";
import { runs } from "../helpers/runs.ts";
import { sampleBodies } from "../helpers/sample-inputs.ts";

/** Inputs for each format. */
const INPUTS = Number(process.env["JPG_INPUTS"] ?? 60);
const FORMATS = (process.env["JPG_FORMATS"] ?? "").split(" ").filter((name) => name !== "");
/** What one input may take of the processor, milliseconds. */
const LONGEST_MS = 5_000;
/** What reading may take at its peak, bytes: 10 × the input and this. */
const MOST_MEMORY = 200 * 1024 * 1024;

const chosen = agents().filter(({ name }) => FORMATS.length === 0 || FORMATS.includes(name));

function readAll(turns: ImportedTurns): void {
  for (let turn = 0; turn < turns.turnCount; turn++) turns.readTurn(turn);
}

/** Reads all that can be asked of a file. Gives whether it is a session. */
function readInput(format: AgentFormat, bytes: Buffer): boolean {
  const source = createBufferSource(bytes);
  // None of these throws, whatever the file holds.
  format.detect(source);
  format.sessionId(source);
  format.origin(source);
  format.descent?.(source, bytes.toString("utf8", 0, 1000));
  format.files.document?.(source);
  format.versions?.versionOf(source);
  try {
    const session = format.read(source);
    readAll(session);
    for (let turn = 0; turn < session.turnCount; turn++) {
      session.turnTime(turn);
      session.turnLine(turn);
    }
    for (const branch of session.abandoned) readAll(branch);
    expect(
      session.compactions.every(({ from_turn, to_turn }) => from_turn <= to_turn && to_turn < session.turnCount),
    ).toBe(true);
    return true;
  } catch (error) {
    if (error instanceof JpgError && error.kind === "user") return false;
    throw error;
  }
}

describe.each(chosen.map((format) => [format.name, format] as const))("files of %s", (name, format) => {
  it("that are sound are read", () => {
    for (const body of sampleBodies(name)) {
      expect(readInput(format, Buffer.from(body))).toBe(true);
    }
  });

  it("that hold anything at all are read, or refused in words", () => {
    const facts = { read: 0, slowest: 0, peak: 0 };
    const start = process.memoryUsage.rss();
    let largest = 0;
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const bytes = mutatedInput(name, seed);
        // Of the processor: the clock goes on while others are at work.
        const began = process.cpuUsage();
        if (readInput(format, bytes)) facts.read++;
        const { user, system } = process.cpuUsage(began);
        const took = (user + system) / 1000;
        facts.slowest = Math.max(facts.slowest, took);
        largest = Math.max(largest, bytes.length);
        if (took > LONGEST_MS) throw new Error(`input ${seed} took ${took} ms`);
        if (seed % 64 === 0) facts.peak = Math.max(facts.peak, process.memoryUsage.rss() - start);
      }),
      { numRuns: runs(INPUTS, 2_000) },
    );
    expect(facts.peak).toBeLessThan(10 * largest + MOST_MEMORY);
    if (process.env["JPG_INPUTS"] !== undefined)
      process.stdout.write(
        `${name}: ${INPUTS} inputs, ${facts.read} read, ${INPUTS - facts.read} refused; slowest ${facts.slowest.toFixed(0)} ms, ` +
          `memory + ${(facts.peak / 1e6).toFixed(0)} MB, largest input ${(largest / 1e6).toFixed(1)} MB\n`,
      );
  }, 3_600_000);
});
