// Whether a command failed. Codex tells its model so in the output's own words, which changed with its versions.
import { isRecord, parseJsonLine, recordOf } from "../json-line.ts";

/** The lines before the output, as the versions wrote them. */
const EXIT_CODE = /^(?:Process exited with code|Exit code:) (-?\d+)$/m;
/** The exit code stands before the output, characters. */
const LOOKED_AT = 500;

/** Whether the output of a call says that it failed. */
export function callFailed(output: unknown): boolean {
  const text = typeof output === "string" ? output : firstText(output);
  const head = text.slice(0, LOOKED_AT);
  const said = EXIT_CODE.exec(head.split("\nOutput:\n", 1)[0] ?? "")?.[1];
  if (said !== undefined) return Number(said) !== 0;
  return head.startsWith('{"output":') && exitCodeOf(text) !== 0;
}

function firstText(output: unknown): string {
  const part = Array.isArray(output) ? output.find(isRecord) : undefined;
  return typeof part?.["text"] === "string" ? part["text"] : "";
}

/** Of the first versions: `{"output": …, "metadata": {"exit_code": 1}}`; 0 where none is said. */
function exitCodeOf(text: string): number {
  const parsed = parseJsonLine(text);
  const code = parsed === null || typeof parsed === "string" ? undefined : recordOf(parsed, "metadata")?.["exit_code"];
  return typeof code === "number" ? code : 0;
}
