// The entry point of the executable that holds jpg and Node. Lines that jpg writes for others name Node and then jpg's script: here
// both are the executable, which finds its own path as the first word then.
import { realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import { main } from "./main.ts";

void main(withoutOwnPath(process.argv.slice(2)));

function withoutOwnPath(words: readonly string[]): readonly string[] {
  const [first = ""] = words;
  return isAbsolute(first) && isThisProgram(first) ? words.slice(1) : words;
}

function isThisProgram(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}
