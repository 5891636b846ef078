// The tags of tests, and what leaving out the slow ones means for the laws. Global set-up: it runs before the tests, in the process
// that starts the workers.
import type { TestProject } from "vitest/node";

export const TAGS: { name: string; description: string }[] = [
  {
    name: "slow",
    description: "Takes over a second while others run. `npm test` leaves it out, `npm run test:slow` runs it.",
  },
  {
    name: "law",
    description: "In a file with laws. `npm test` draws a quarter of their examples, `npm run test:slow` all.",
  },
];

declare module "vitest" {
  interface ProvidedContext {
    /** Laws draw one part of so many of their examples. */
    readonly partsOfExamples?: number;
  }
}

/** A run without the slow tests is the quick one. */
export function setup(project: TestProject): void {
  const quick = project.config.tagsFilter?.includes("!slow") === true;
  project.provide("partsOfExamples", quick ? 4 : 1);
}
