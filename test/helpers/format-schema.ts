// docs/format.schema.json as functions: whether a record, and each file of a branch, is as the schema says.
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** The definitions of the schema that are whole records. */
export const RECORD_KINDS = [
  "conversation",
  "event",
  "compaction",
  "config",
  "meta",
  "storeMarker",
  "toolDefinition",
  "movedLine",
] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

export const formatSchema = JSON.parse(
  readFileSync(new URL("../../docs/format.schema.json", import.meta.url), "utf8"),
) as { readonly $defs: Readonly<Record<string, unknown>> };

const SCHEMA = "format.schema.json";
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
ajv.addSchema(formatSchema, SCHEMA);

/** Says what is wrong with a record of a kind, or of any; null when nothing is. */
export function schemaProblem(record: unknown, kind?: RecordKind | "conversationName"): string | null {
  const validate = validatorOf(kind === undefined ? SCHEMA : `${SCHEMA}#/$defs/${kind}`);
  return validate(record) ? null : ajv.errorsText(validate.errors);
}

function validatorOf(ref: string): ValidateFunction {
  const found = ajv.getSchema(ref);
  if (found === undefined) throw new Error(`the schema has no ${ref}`);
  return found;
}

/** What is wrong in a file of a branch, and how many records it has; null when the schema says nothing of such a file. */
export function checkStoredFile(
  path: string,
  text: () => string,
): { readonly records: number; readonly problems: readonly string[] } | null {
  const kind = kindOfFile(path);
  if (kind === null) return null;
  const lines = text()
    .split("\n")
    .filter((line) => line !== "");
  const problems = lines.flatMap((line, at) => {
    const record: unknown = JSON.parse(line);
    const problem = schemaProblem(record, kind) ?? schemaProblem(record);
    return problem === null ? [] : [`${path}:${at + 1}: ${problem}: ${line.slice(0, 300)}`];
  });
  return { records: lines.length, problems };
}

const KINDS: readonly (readonly [RegExp, RecordKind])[] = [
  [/^conversation\.json$/, "conversation"],
  [/^turns\//, "event"],
  [/^compactions\//, "compaction"],
  [/^config\//, "config"],
  [/^meta\//, "meta"],
  [/^attachments\/.*\.json$/, "toolDefinition"],
  [/^\.jpg-store$/, "storeMarker"],
];

function kindOfFile(path: string): RecordKind | null {
  return KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}
