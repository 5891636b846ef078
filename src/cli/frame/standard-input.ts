// What stands at standard input, and reading it without waiting forever for someone who never writes.
import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import type { InputKind } from "../../app/conversation/runtime.ts";

/** Tells what standard input is. */
export function inputKind(): InputKind {
  if (isatty(0)) return "terminal";
  try {
    const found = fstatSync(0);
    if (found.isFIFO() || found.isSocket()) return "open";
    return found.isFile() ? "file" : "none";
  } catch {
    return "none"; // closed
  }
}

/** Reads standard input to its end; null when nothing came, not even its end, within `firstByteMs`. */
export function readInput(firstByteMs: number): Promise<Uint8Array | null> {
  const { stdin } = process;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      stdin.destroy();
      resolve(null);
    }, firstByteMs);
    stdin.on("data", (chunk: Buffer) => {
      clearTimeout(timer);
      chunks.push(chunk);
    });
    stdin.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    stdin.on("end", () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
  });
}
