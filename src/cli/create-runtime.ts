// The world outside as commands see it: environment, clock, randomness, standard input. Read here and nowhere below.
import { randomBytes } from "node:crypto";
import { userInfo } from "node:os";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import type { Runtime } from "../app/conversation/runtime.ts";

/** Creates the runtime of this process. `version` is jpg's, e.g. `0.1.0`. */
export function createRuntime(version: string): Runtime {
  return {
    version,
    env: process.env,
    cwd: process.cwd(),
    home: homeFolder(process.env["HOME"]),
    nodePath: process.execPath,
    jpgPath: fileURLToPath(new URL("../../bin/jpg.js", import.meta.url)),
    now: () => new Date(),
    localTime: ({ year, month, day, hours = 0, minutes = 0, seconds = 0 }) =>
      new Date(year, month - 1, day, hours, minutes, seconds),
    startOfDay: (daysAgo) => {
      const now = new Date();
      return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo);
    },
    random: (length) => randomBytes(length),
    inputKind: async () => (await import("./frame/standard-input.ts")).inputKind(),
    readStdinWithin: async (firstByteMs) => (await import("./frame/standard-input.ts")).readInput(firstByteMs),
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
  };
}

/** The user's folder by HOME; where that names none (cron, containers) by the system, so that nothing is kept below the current one. */
function homeFolder(named = ""): string {
  if (isAbsolute(named)) return named;
  try {
    return userInfo().homedir;
  } catch {
    return "/"; // a user whom the system does not know
  }
}
