// A command line of jpg as a person types it at a shell.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Sandbox } from "./run-jpg.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

/** Types a line in the project and gives what it prints; throws when it fails. */
export function typeLine({ project, env }: Pick<Sandbox, "project" | "env">, line: string): string {
  const script = `jpg() { "${process.execPath}" "${BIN}" "$@"; }; ${line}`;
  return execFileSync("/bin/sh", ["-c", script], { cwd: project, env, encoding: "utf8" });
}
