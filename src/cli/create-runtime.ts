// The world outside as commands see it: environment, clock, randomness, standard input. Read here and nowhere below.
import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import type { Runtime } from "../app/runtime.ts";

/** Creates the runtime of this process. */
export function createRuntime(): Runtime {
  return {
    env: process.env,
    cwd: process.cwd(),
    home: process.env["HOME"] ?? homedir(),
    nodePath: process.execPath,
    jpgPath: fileURLToPath(new URL("../../bin/jpg.js", import.meta.url)),
    now: () => new Date(),
    random: (length) => randomBytes(length),
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
  };
}
