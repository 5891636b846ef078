// Reads what a provider refused a request for: the one table from the providers' statuses, error types and sentences to the
// codes of jpg. Wordings were taken from the providers' documentation and from public reports; an unknown one falls back to
// its status.
import { fieldsOf } from "../core/conversation/event.ts";

/** The codes of provider errors. */
export type ProviderCode =
  | "wrong_key"
  | "unknown_model"
  | "context_overflow"
  | "rate_limited"
  | "overloaded"
  | "provider_timeout"
  | "provider_unreachable"
  | "stream_cut"
  | "request_refused"
  | "provider_failed";

/** A refusal as the provider gave it. */
export interface Refusal {
  /** HTTP status; null for an error inside a stream that names none. */
  readonly status: number | null;
  /** Names of the error that are meant for programs (`type`, `code`, `status`), in lower case, joined by blanks. */
  readonly names: string;
  /** The sentence for people. */
  readonly sentence: string;
}

/** What a refusal means. */
export interface Verdict {
  readonly code: ProviderCode;
  /** The same request may go through later. */
  readonly isPassing: boolean;
}

interface Row extends Verdict {
  /** Any of them is enough. */
  readonly names?: RegExp;
  readonly sentence?: RegExp;
  readonly statuses?: readonly number[];
}

/** Too long for the model, by the words of Anthropic, OpenAI (two APIs), Groq, Google, OpenRouter, llama.cpp, LM Studio, Ollama, vLLM. */
const TOO_LONG = new RegExp(
  [
    "prompt is too long",
    "exceed(?:s|ed)? (?:the )?(?:model'?s? )?(?:maximum )?context",
    "exceed(?:s|ed)? the (?:available|maximum) (?:context|number of (?:input )?tokens|allowed)",
    "maximum (?:context|prompt) length",
    "context[ _](?:length|window|size) (?:is )?exceed",
    "reduce the length of the (?:messages|input|prompt)",
    "input is too long",
    "input token count .*exceeds",
    "(?:greater|longer|larger) than the (?:model'?s )?context",
    "context the overflows",
    "request_?(?: entity)? ?too large",
    "request exceeds the maximum size",
    "too many (?:input )?tokens in",
  ].join("|"),
  "i",
);
const NO_MODEL = new RegExp(
  [
    "model\\b.{0,80}\\b(?:not found|does not exist|decommissioned|no longer (?:supported|available))",
    "(?:unknown|invalid|no such|unsupported|not a valid) model",
    "no endpoints found",
  ].join("|"),
  "i",
);
const BAD_KEY =
  /api[ _-]?key (?:not valid|is invalid|not found|expired)|(?:invalid|incorrect|missing|no) (?:x-)?api[ _-]?key|no auth credentials/i;

/** The first row that fits counts. */
const ROWS: readonly Row[] = [
  {
    code: "context_overflow",
    isPassing: false,
    names: /context_length_exceeded|exceed_context_size|request_too_large/,
    sentence: TOO_LONG,
    statuses: [413],
  },
  { code: "rate_limited", isPassing: false, names: /insufficient_quota/ },
  { code: "rate_limited", isPassing: true, names: /rate_limit|resource_exhausted/, statuses: [429] },
  { code: "overloaded", isPassing: true, names: /overloaded|unavailable|server_is_overloaded/, statuses: [503, 529] },
  {
    code: "wrong_key",
    isPassing: false,
    names: /authentication_error|invalid_api_key|api_key_invalid|unauthenticated/,
    sentence: BAD_KEY,
    statuses: [401],
  },
  {
    code: "unknown_model",
    isPassing: false,
    names: /model_not_found|model_decommissioned|model_terms/,
    sentence: NO_MODEL,
    statuses: [404],
  },
  { code: "wrong_key", isPassing: false, names: /permission_(?:error|denied)/, statuses: [403] },
  { code: "provider_timeout", isPassing: true, names: /timeout_error|deadline_exceeded/, statuses: [408, 504] },
  { code: "provider_failed", isPassing: true, names: /api_error|internal|server_error/ },
];

/** Says what a refusal means. */
export function judgeRefusal(refusal: Refusal): Verdict {
  const { status } = refusal;
  const row = ROWS.find((candidate) => fits(candidate, refusal));
  if (row !== undefined) return row;
  if (status !== null && status >= 400 && status < 500) return { code: "request_refused", isPassing: status === 409 };
  return { code: "provider_failed", isPassing: status === null || status >= 500 };
}

function fits({ names, sentence, statuses = [] }: Row, refusal: Refusal): boolean {
  if (refusal.status !== null && statuses.includes(refusal.status)) return true;
  return names?.test(refusal.names) === true || sentence?.test(refusal.sentence) === true;
}

/** Reads the body of a refusal, in the shape of any provider; a body that is no JSON is the sentence itself. */
export function readRefusal(status: number | null, body: unknown): Refusal {
  const value = typeof body === "string" ? parse(body) : body;
  const first = fieldsOf(Array.isArray(value) ? value[0] : value);
  const inner = typeof first["error"] === "object" && first["error"] !== null ? fieldsOf(first["error"]) : first;
  const sentence = [inner["message"], first["error"], first["message"], first["detail"]].find(isFilled) ?? "";
  const details = Array.isArray(inner["details"]) ? inner["details"] : [];
  const reasons = details.map((detail) => fieldsOf(detail)["reason"]);
  const upstream = fieldsOf(inner["metadata"])["raw"];
  const names = [inner["type"], inner["code"], inner["status"], ...reasons].filter(isFilled);
  return {
    status: status ?? statusOf(inner),
    names: names.join(" ").toLowerCase(),
    sentence:
      value === null && typeof body === "string" ? withoutTags(body) : [sentence, upstream].filter(isFilled).join(" "),
  };
}

/** Errors inside a stream name the status in their body, if at all. */
function statusOf(fields: Readonly<Record<string, unknown>>): number | null {
  const status = [fields["status"], fields["code"]].find((value) => typeof value === "number");
  return typeof status === "number" && status >= 400 && status < 600 ? status : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** Proxies answer with pages. */
function withoutTags(text: string): string {
  return text.replace(/<(style|script|title)\b[\s\S]*?<\/\1>|<[^>]*>/gi, " ");
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
