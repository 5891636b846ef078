// Looks at a model's file before a library does: what is no model is refused in words that help.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { nearestName } from "../core/errors.ts";
import { createFailure, type FailureTarget } from "./failure.ts";
import { readGgufHeader } from "./gguf-header.ts";
import { toShownText } from "./shown-text.ts";

/** Checks that the model of a request is a GGUF file in the folder. Throws `unknown_model`. */
export async function checkModelFile(target: FailureTarget, folder: string): Promise<void> {
  const name = target.model ?? "";
  const problem = await readGgufHeader(join(folder, name)).then(
    ({ isGguf }) => (isGguf ? null : "is not a GGUF file"),
    (error: unknown) => unreadable(folder, error),
  );
  if (problem === null) return;
  const others = (await readdir(folder).catch(() => [])).filter((other) => other.endsWith(".gguf") && other !== name);
  const nearest = nearestName(name, others) ?? others.sort()[0];
  const { provider, urlSetting } = target.connection;
  throw createFailure(target, "unknown_model", {
    what: problem,
    hints: [
      ...(nearest === undefined ? [] : [`Use ${provider}/${toShownText(nearest, undefined)}.`]),
      `Check ${urlSetting}.`,
    ],
  }).error;
}

function unreadable(folder: string, error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  const shown = toShownText(folder, undefined);
  return code === "ENOENT" || code === "ENOTDIR"
    ? `is not in ${shown}`
    : `cannot be read in ${shown} (${String(code)})`;
}
