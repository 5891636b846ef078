// jpg as a process that a test talks to while it runs: what it printed so far, signals, its end.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JpgResult, Sandbox } from "./run-jpg.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

export interface LiveJpg {
  readonly child: ChildProcess;
  /** What standard output has given so far. */
  readonly shown: () => string;
  /** Resolves once standard output holds the text. */
  untilShown(text: string): Promise<void>;
  /** Resolves when the process has ended; the code is -1 when a signal ended it. */
  readonly ended: Promise<JpgResult>;
}

/**
 * Starts jpg in the sandbox's project, with nothing on standard input. `maxFileKiB` = no file that it or git writes can
 * become larger: the system refuses what goes beyond, as a full disk does.
 */
export function startJpg(
  { project, env }: Pick<Sandbox, "project" | "env">,
  args: readonly string[],
  { maxFileKiB }: { readonly maxFileKiB?: number } = {},
): LiveJpg {
  const limited = `trap "" XFSZ; ulimit -f ${maxFileKiB}; exec "$@"`;
  const [program = "", ...rest] = [
    ...(maxFileKiB === undefined ? [] : ["bash", "-c", limited, "bash"]),
    ...[process.execPath, BIN, ...args],
  ];
  const child = spawn(program, rest, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    for (const check of waiting) check();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const ended = new Promise<JpgResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ stdout: out, stderr: err, code: code ?? -1 }));
  });
  const untilShown = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (!out.includes(text)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
      void ended.then(() => reject(new Error(`jpg ended before it showed ${text}: ${out}${err}`)));
    });
  return { child, shown: () => out, untilShown, ended };
}

/** Writes the user's settings of a sandbox. */
export function writeUserConfig({ home }: Pick<Sandbox, "home">, toml: string): void {
  const path = join(home, ".config", "jpg", "config.toml");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, toml);
}
