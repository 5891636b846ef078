// Checks a file: a session of an agent that jpg reads, or what a provider was sent.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { JpgError, userError } from "../../core/errors.ts";
import { defined, isTooDeep, MAX_FOREIGN_DEPTH } from "../../core/json.ts";
import {
  isProviderName,
  type ProviderName,
  type RequestShape,
  recognizeRequest,
} from "../../core/model/provider-rules.ts";
import type { AgentFormat } from "../../formats/agent-format.ts";
import { type BufferSource, createBufferSource } from "../sessions/buffer-source.ts";
import { readSessionFile } from "../sessions/session-files.ts";
import { detectFormat, formatNames } from "../sessions/session-registry.ts";
import type { Runtime } from "../workspace/runtime.ts";
import { checkSession } from "./check.ts";
import { type CheckReport, type CheckRequest, createCheckReport, describeList } from "./check-report.ts";
import { PROVIDER_CHECKS } from "./provider-checks.ts";

/** The absolute path of what a word names as a file; null when it means a conversation. Throws `no_such_file`. */
export async function findCheckedFile(runtime: Runtime, word: string | undefined): Promise<string | null> {
  if (word === undefined || word === "" || word === "@" || word === "-") return null;
  const path = resolve(runtime.cwd, word);
  const found = await stat(path).catch(() => null); // no file of that name, or none that can be looked at
  if (found !== null && !found.isDirectory()) return path;
  if (found === null && !/\.jsonl?$/.test(word)) return null;
  if (found !== null && !word.includes(".") && !word.startsWith("/")) return null;
  throw userError("no_such_file", `${word} ${found === null ? "does not exist" : "is a folder"}: expected a file.`, {
    hints: ["`jpg check` without a name checks the active conversation; `jpg ls` lists all."],
  });
}

/** Checks a file. Throws `unreadable_file`, `empty_file`, `not_checkable`, `wrong_provider`. */
export async function checkFile(runtime: Runtime, path: string, request: CheckRequest): Promise<CheckReport> {
  const source = createBufferSource(await readSessionFile(runtime, { path, named: true }));
  if (source.byteLength === 0) {
    throw userError("empty_file", `${path} is empty: nothing to check.`, {
      hints: ["Name the file of a session, or of a request to a provider."],
    });
  }
  const format = formatOf(source, path);
  if (format !== null) return checkSession(format.read(source), path, request);
  const shape = recognizeRequest(parseJson(source.bytes.toString("utf8")));
  if (shape === null) throw notCheckable(path);
  return checkRequest(shape, path, request);
}

/** The agent's format that a file has; null when no agent wrote it, but who asks a provider. */
function formatOf(source: BufferSource, path: string): AgentFormat | null {
  try {
    const format = detectFormat(source, path);
    return isProviderName(format.name) ? null : format;
  } catch (error) {
    if (error instanceof JpgError && error.code === "not_a_session") return null;
    throw error;
  }
}

function checkRequest(shape: RequestShape, path: string, request: CheckRequest): CheckReport {
  const provider = providerFor(shape, path, request.provider);
  const { list, thinking, previousResponse } = shape;
  const model = request.model ?? shape.model;
  const violations = PROVIDER_CHECKS[provider].check(list, {
    complete: request.history !== true,
    ...defined({ model, thinking, previousResponse }),
  });
  return createCheckReport("request", path, [{ checked: describeList(provider, model, list), violations }]);
}

/** A request has one shape: `all` means the provider that it is for. */
function providerFor(shape: RequestShape, path: string, wanted: CheckRequest["provider"]): ProviderName {
  if (wanted === undefined || wanted === "all") return shape.provider;
  if (shape.possible.includes(wanted)) return wanted;
  throw userError("wrong_provider", `${path} is a request to ${shape.provider}, not to ${wanted}.`, {
    hints: [`Leave --provider out, or use \`--provider ${shape.provider}\`.`],
    data: { provider: shape.provider },
  });
}

/** The value of a JSON text; undefined when it is none. */
function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return isTooDeep(text, value, MAX_FOREIGN_DEPTH) ? undefined : value;
  } catch {
    return undefined; // the caller says what was expected
  }
}

function notCheckable(path: string): JpgError {
  return userError(
    "not_checkable",
    `${path} is neither a session that jpg reads (${formatNames().join(", ")}) nor a request: expected JSON with messages, input or contents, or a list of messages.`,
    { hints: ["A request is one JSON document: the body as it was sent, or the list inside it."] },
  );
}
