// Hindsight over sessions: cuts them and measures every row; runs the cycles. What a bench calls; it opens no file.
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { estimateEvent, estimateEvents } from "../../src/core/conversation/token-estimate.ts";
import { AGENTS } from "../../src/formats/agents.ts";
import { type Cut, cutStretch } from "./cut.ts";
import { CYCLED_ROWS, type Cycle, endlessSteps, runCycles } from "./cycles.ts";
import { type Figures, figuresOf } from "./figures.ts";
import { measureRow, type OpenCut, openCut } from "./measure.ts";
import { listOwnCuts, type OwnCut } from "./own-compactions.ts";
import { ROWS, type Row } from "./rows.ts";
import { listStretches, type Session } from "./stretch.ts";

/** What came of it. */
export interface Hindsight {
  readonly sessions: readonly CutSession[];
  readonly facts: number;
  readonly needles: number;
  readonly rows: readonly Figures[];
  /** Where the agents compacted themselves. */
  readonly own: { readonly cuts: number; readonly facts: number; readonly rows: readonly Figures[] };
  readonly masking: readonly MaskingPoint[];
}

/** A session that was long enough. */
export interface CutSession {
  readonly name: string;
  readonly agent: string;
  readonly cuts: number;
}

/** The lift of masking results at a size, both percent. */
export interface MaskingPoint {
  readonly size: number;
  readonly lift: number;
}

export interface CycledFigures {
  readonly name: string;
  readonly size: number;
  readonly cycles: readonly Cycle[];
}

/** Reads a session file of any format that jpg imports; null when it is none. */
export function readSession(name: string, bytes: Buffer): Session | null {
  const source = createBufferSource(bytes);
  const format = AGENTS.find((candidate) => candidate.detect(source));
  if (format === undefined) return null;
  const { turnCount, readTurn, compactions, cwd } = format.read(source);
  const turns = Array.from({ length: turnCount }, (_, index) => ({ index, events: readTurn(index) }));
  return { name, agent: format.name, cwd, turns, compactions };
}

/** Measures sessions. Those that are too short to be cut are left out. */
export function measureHindsight(sessions: readonly Session[]): Hindsight {
  const long = sessions
    .map((session) => ({ session, cuts: listStretches(session).flatMap(cutStretch) }))
    .filter(({ cuts }) => cuts.length > 0);
  const opened = long.map(({ cuts }) => cuts.map(openCut));
  const all = opened.flat();
  return {
    sessions: long.map(({ session, cuts }) => ({ name: session.name, agent: session.agent, cuts: cuts.length })),
    facts: all.reduce((sum, { facts }) => sum + facts.length, 0),
    needles: all.reduce((sum, { needles }) => sum + needles.size, 0),
    rows: ROWS.map((row) => measureAll(row, opened)),
    own: measureOwn(sessions),
    masking: maskingLine(all),
  };
}

/** Runs so many cycles of every row and size, in tokens, over the sessions that are long enough, one after the other. */
export function measureCycles(
  sessions: readonly Session[],
  { sizes, most }: { readonly sizes: readonly number[]; readonly most: number },
): readonly CycledFigures[] {
  const long = sessions.filter((session) => listStretches(session).some((stretch) => cutStretch(stretch).length > 0));
  return sizes.flatMap((size) =>
    CYCLED_ROWS.map((row) => {
      const cycles = runCycles(row, endlessSteps(long), { size, count: estimateEvent, most });
      return { name: row.name, size, cycles };
    }),
  );
}

function measureAll(row: Row, opened: readonly (readonly OpenCut[])[]): Figures {
  const counts = opened.map((cuts) => cuts.map((open) => measureRow(row, open)));
  return figuresOf(row, counts, sumPast(opened.flat()));
}

/** Rows that are put beside the agent's own. */
const BESIDE_OWN: readonly string[] = ["raw", "nothing", "auto", "default", "heavy (extract)", "keep last 20k"];

function measureOwn(sessions: readonly Session[]): Hindsight["own"] {
  const opened = sessions.map((session) => listOwnCuts(session).map(openCut)).filter(({ length }) => length > 0);
  const own: Row = { name: "the agent's own", group: "agent", view: () => [] };
  const counts = opened.map((cuts) => cuts.map((open) => measureRow({ view: () => (open.cut as OwnCut).left }, open)));
  return {
    cuts: opened.flat().length,
    facts: opened.flat().reduce((sum, { facts }) => sum + facts.length, 0),
    rows: [
      ...ROWS.filter(({ name }) => BESIDE_OWN.includes(name)).map((row) => measureAll(row, opened)),
      figuresOf(own, counts, sumPast(opened.flat())),
    ],
  };
}

function maskingLine(all: readonly OpenCut[]): readonly MaskingPoint[] {
  const needed = all.reduce((sum, { facts }) => sum + facts.length, 0);
  return Array.from({ length: 21 }, (_, step) => {
    const size = step * 5;
    const lift = all.reduce((sum, { cut, expected }) => {
      const tokens = (size / 100) * estimateEvents(cut.past);
      return sum + expected.all.masked(tokens) - expected.all.random(tokens);
    }, 0);
    return { size, lift: (100 * lift) / needed };
  });
}

function sumPast(opened: readonly { readonly cut: Cut }[]): number {
  return opened.reduce((sum, { cut }) => sum + estimateEvents(cut.past), 0);
}
