// A message list in the shape of the Anthropic Messages API, prepared once for all rules: contents as block lists, and
// system messages set apart, because rules that speak of the "next" or "previous" message skip them.

/** A content block in the provider's shape. */
export type AnthropicBlock = Readonly<Record<string, unknown>>;

/** A message in the provider's shape. */
export interface AnthropicMessage {
  readonly role: string;
  readonly content: string | readonly AnthropicBlock[];
}

/** What decides about rules that are not in the shape alone. */
export interface AnthropicCheckOptions {
  /** Model the list is meant for; absent = an older one. */
  readonly model?: string;
  /** Whether extended thinking is on; absent = not known, its rules are not checked. */
  readonly thinking?: boolean;
  /** Whether the list is sent as it stands (default true); false = a new request will follow, so its end is not judged. */
  readonly complete?: boolean;
}

/** One message with its position in the given list. */
export interface PlacedMessage {
  /** 0-based. */
  readonly index: number;
  readonly role: string;
  /** True when the content was a string: its one text block has no position of its own. */
  readonly plain: boolean;
  readonly blocks: readonly AnthropicBlock[];
}

/** The input of every rule. */
export interface AnthropicChecked {
  readonly all: readonly PlacedMessage[];
  /** Without system messages; calls and results are paired over it. */
  readonly dialogue: readonly PlacedMessage[];
  readonly options: AnthropicCheckOptions;
}

/** Prepares a list for the rules. Content that is neither a string nor a list counts as empty (rule A0 names it). */
export function toAnthropicChecked(
  messages: readonly AnthropicMessage[],
  options: AnthropicCheckOptions,
): AnthropicChecked {
  const all = messages.map((message, index) => place(message, index));
  return { all, dialogue: all.filter((message) => message.role !== "system"), options };
}

/** Yields the blocks of one type with their places. */
export function* blocksOfType(messages: readonly PlacedMessage[], type: string): Generator<PlacedBlock> {
  for (const message of messages) {
    for (const [block, value] of message.blocks.entries()) {
      if (value["type"] === type) yield { value, position: { message: message.index, block } };
    }
  }
}

/** A block with its place in the given list. */
export interface PlacedBlock {
  readonly value: AnthropicBlock;
  readonly position: { readonly message: number; readonly block: number };
}

function place({ role, content }: AnthropicMessage, index: number): PlacedMessage {
  if (typeof content === "string") {
    return { index, role, plain: true, blocks: content === "" ? [] : [{ type: "text", text: content }] };
  }
  return { index, role, plain: false, blocks: Array.isArray(content) ? content : [] };
}
