// Plug-ins that jpg writes for agents which have no hooks in their settings: what they hold of the shell line that is run.

/** Statements of a plug-in, in JavaScript: `keep(event)` runs the line with the event on standard input; it never throws. */
export function keepFunction(line: string): string {
  return `import { spawnSync } from "node:child_process";

const LINE = ${JSON.stringify(line)};

function keep(event) {
  try {
    const stdio = ["pipe", "ignore", "ignore"];
    spawnSync("/bin/sh", ["-c", LINE], { input: JSON.stringify(event), stdio, timeout: 10000 });
  } catch {
    // A session that is not kept is no reason to stop the agent.
  }
}
`;
}
