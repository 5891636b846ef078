// A rule of a provider for a message list, as data: an id, how serious a breach is, and a function that finds breaches. Checking only reads
// messages; hardening is elsewhere.
import { isFields } from "../conversation/event.ts";

/** `error`: the provider refuses the request. `warning`: accepted, but harmful or provider dependent. */
type RuleSeverity = "error" | "warning";

/** Where a rule is broken; both 0-based. */
export interface MessagePosition {
  readonly message: number;
  /** Block inside the message; absent = the message as a whole. */
  readonly block?: number;
}

/** What a rule's function finds: where, and what is wrong there. */
export interface Breach {
  readonly position: MessagePosition;
  /** One sentence. */
  readonly message: string;
}

export interface Violation extends Breach {
  /** Rule id, e.g. `A1`. */
  readonly rule: string;
  readonly severity: RuleSeverity;
  readonly provider: string;
}

/** A rule over a provider's own input type. */
export interface Rule<Input> {
  readonly id: string;
  readonly severity: RuleSeverity;
  /** Finds breaches, in message order. */
  readonly find: (input: Input) => Iterable<Breach>;
}

/** Runs a table of rules; violations come in the order of the table, within a rule in message order. */
export function runRules<Input>(provider: string, rules: readonly Rule<Input>[], input: Input): readonly Violation[] {
  return rules.flatMap(({ id, severity, find }) =>
    Array.from(find(input), (finding) => ({ rule: id, severity, provider, ...finding })),
  );
}

/** Names as the user types them. */
export const PROVIDER_NAMES = ["anthropic", "openai-chat", "openai-responses", "google"] as const;

export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** How the names of a provider's models begin, without the route. */
const MODELS: readonly (readonly [RegExp, ProviderName])[] = [
  [/claude/, "anthropic"],
  [/gemini/, "google"],
  [/(?:^|[/.])(?:gpt-[4-9]|gpt-\d{2}|o\d|codex)/, "openai-responses"],
];

/** Infers the provider from a model's or a maker's name; absent when neither is known. */
export function providerOf(model: string | undefined, maker?: string): ProviderName | undefined {
  const named = MODELS.find(([pattern]) => pattern.test(model?.toLowerCase() ?? ""))?.[1];
  if (named !== undefined) return named;
  if (maker === "openai") return "openai-responses";
  return PROVIDER_NAMES.find((name) => name === maker);
}

export function isProviderName(word: string): word is ProviderName {
  return (PROVIDER_NAMES as readonly string[]).includes(word);
}

// Recognises the request of a provider: a request body, or the bare list of its messages.

type Json = Readonly<Record<string, unknown>>;

export interface RequestShape {
  readonly provider: ProviderName;
  /** Providers whose shape this can be; more than one when nothing tells them apart. Contains `provider`. */
  readonly possible: readonly ProviderName[];
  /** Messages, input items or contents. */
  readonly list: readonly unknown[];
  readonly model?: string;
  /** Whether extended thinking is on; absent = not stated. */
  readonly thinking?: boolean;
  /** Id of the response that an OpenAI request continues. */
  readonly previousResponse?: string;
}

/** Recognises a parsed JSON value; null when it is neither a request nor a list of messages. */
export function recognizeRequest(value: unknown): RequestShape | null {
  const body: Json = isFields(value) ? value : {};
  const list = Array.isArray(value) ? (value as readonly unknown[]) : listOf(body);
  if (list === null || (list.length > 0 && body["contents"] === undefined && !list.some(isMessage))) return null;
  const model = typeof body["model"] === "string" ? body["model"] : undefined;
  const possible = providersOf(body, list);
  return {
    provider: choose(possible, model),
    possible,
    list,
    model,
    ...settingsOf(body),
  };
}

/** If the shape leaves it open, the model decides; models of other makers are served in the shape of OpenAI's chat. */
function choose(possible: readonly ProviderName[], model: string | undefined): ProviderName {
  const [first = "anthropic"] = possible;
  if (model === undefined) return first;
  const wanted = [providerOf(model), "openai-chat" as const];
  return wanted.find((name) => name !== undefined && possible.includes(name)) ?? first;
}

function settingsOf(body: Json): Pick<RequestShape, "thinking" | "previousResponse"> {
  const thinking = isFields(body["thinking"]) ? body["thinking"]["type"] !== "disabled" : undefined;
  const previous = body["previous_response_id"];
  return {
    thinking,
    ...(typeof previous === "string" && { previousResponse: previous }),
  };
}

/** Gemini CLI's `/chat save` stores contents under `history`. */
function listOf({ contents, input, messages, history }: Json): readonly unknown[] | null {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  const saved = Array.isArray(history) && history.some((entry) => isFields(entry) && Array.isArray(entry["parts"]));
  return [contents, input, messages, saved ? history : null].find((list) => Array.isArray(list)) ?? null;
}

/** Sessions of agents have lists of messages too, but their entries name the role elsewhere. */
function isMessage(entry: unknown): boolean {
  return isFields(entry) && (typeof entry["role"] === "string" || isResponsesItem(entry));
}

/** Most specific first: the name of the list, then what only one provider writes. */
function providersOf(body: Json, list: readonly unknown[]): readonly ProviderName[] {
  if (Array.isArray(body["contents"])) return ["google"];
  if (body["input"] !== undefined) return ["openai-responses"];
  const entries = list.filter(isFields);
  if (entries.some((entry) => Array.isArray(entry["parts"]))) return ["google"];
  const types = new Set(entries.flatMap((entry) => partsOf(entry).map((part) => part["type"])));
  if (body["messages"] === undefined && entries.some(isResponsesItem)) return ["openai-responses"];
  if (entries.some(isChatMessage) || hasAny(types, CHAT_PARTS)) return ["openai-chat"];
  if (body["system"] !== undefined || hasAny(types, ANTHROPIC_PARTS)) return ["anthropic"];
  if (entries[0]?.["role"] === "system") return ["openai-chat"];
  return body["messages"] === undefined
    ? ["anthropic", "openai-chat", "openai-responses"]
    : ["anthropic", "openai-chat"];
}

const CHAT_PARTS = ["image_url", "input_audio", "refusal", "file"];
const ANTHROPIC_PARTS = ["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "compaction"];

function isChatMessage(entry: Json): boolean {
  return entry["role"] === "tool" || entry["role"] === "developer" || Array.isArray(entry["tool_calls"]);
}

/** Items of the Responses API have a type; messages among them may omit it. */
function isResponsesItem(entry: Json): boolean {
  const type = entry["type"];
  if (typeof type === "string" && /^(?:message|reasoning|compaction|.*_call(?:_output)?)$/.test(type)) return true;
  return partsOf(entry).some((part) => part["type"] === "input_text" || part["type"] === "output_text");
}

function partsOf({ content }: Json): readonly Json[] {
  return Array.isArray(content) ? content.filter(isFields) : [];
}

function hasAny(types: ReadonlySet<unknown>, wanted: readonly string[]): boolean {
  return wanted.some((type) => types.has(type));
}
