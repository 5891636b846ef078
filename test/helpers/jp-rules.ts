// jp's own rules, written from its specification without looking at the importer or exporter: what it sends of a stream, and what
// it saves when it goes on. A stand-in for the program.

export type Entry = Readonly<Record<string, unknown>>;

const SENT = new Set(["chat_request", "chat_response", "tool_call_request", "tool_call_response"]);
const TALK = new Set([...SENT, "turn_start", "inquiry_request", "inquiry_response"]);

function decode(value: unknown): unknown {
  if (typeof value === "string") {
    const bytes = Buffer.from(value, "base64");
    const text = bytes.toString("utf8");
    return bytes.toString("base64") === value && Buffer.from(text).equals(bytes) ? text : value;
  }
  if (Array.isArray(value)) return value.map(decode);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item)]));
}

interface Placed {
  readonly entry: Entry;
  readonly turn: number;
}

function place(entries: readonly Entry[]): readonly Placed[] {
  let turn = -1;
  return entries.map((entry) => {
    const type = String(entry["type"]);
    if (type === "turn_start" || (turn < 0 && TALK.has(type))) turn++;
    return { entry, turn };
  });
}

/** Later in the stream wins among those of one time. */
function winner(overlays: readonly Entry[], turn: number, policy: string): Entry | undefined {
  return overlays
    .filter((one) => Number(one["from_turn"]) <= turn && turn <= Number(one["to_turn"]) && one[policy] !== undefined)
    .reduce<Entry | undefined>(
      (best, one) => (best === undefined || String(one["timestamp"]) >= String(best["timestamp"]) ? one : best),
      undefined,
    );
}

/** What jp sends of a stream, decoded, as `[kind, …]`. */
export function sentByJp(entries: readonly Entry[]): readonly unknown[] {
  const overlays = entries.filter(({ type }) => type === "compaction");
  const names = new Map(
    entries.filter(({ type }) => type === "tool_call_request").map((one) => [one["id"], one["name"]]),
  );
  let injected: Entry | undefined;
  let last = -1;
  return place(entries).flatMap(({ entry, turn }) => {
    const summary = winner(overlays, turn, "summary");
    const isNew = turn !== last;
    if (isNew && turn >= 0) {
      last = turn;
      const before = injected;
      injected = summary;
      if (summary !== undefined && summary !== before) {
        const { summary: text } = summary["summary"] as Entry;
        return [
          ["chat_request", "[Summary of previous conversation]"],
          ["chat_response", "message", text],
        ];
      }
    }
    if (summary !== undefined || !SENT.has(String(entry["type"]))) return [];
    return shown(entry, { overlays, turn, names });
  });
}

function shown(
  entry: Entry,
  { overlays, turn, names }: { overlays: readonly Entry[]; turn: number; names: ReadonlyMap<unknown, unknown> },
): readonly unknown[] {
  const calls = winner(overlays, turn, "tool_calls")?.["tool_calls"] as Entry | undefined;
  switch (entry["type"]) {
    case "chat_request":
      return [["chat_request", entry["content"]]];
    case "chat_response": {
      const [key = ""] = ["message", "reasoning", "data"].filter((name) => Object.hasOwn(entry, name));
      const isGone = key === "reasoning" && winner(overlays, turn, "reasoning") !== undefined;
      return isGone ? [] : [["chat_response", key, entry[key]]];
    }
    case "tool_call_request": {
      if (calls?.["policy"] === "omit") return [];
      const args = calls?.["request"] === true ? {} : decode(entry["arguments"]);
      return [["tool_call_request", entry["id"], entry["name"], args]];
    }
    default: {
      if (calls?.["policy"] === "omit") return [];
      const isError = entry["is_error"];
      const stub = `[compacted] ${String(names.get(entry["id"]) ?? "unknown")}: ${isError === true ? "error" : "success"}`;
      return [
        ["tool_call_response", entry["id"], calls?.["response"] === true ? stub : decode(entry["content"]), isError],
      ];
    }
  }
}

/** Adds entries to the text of a stream, as jp saves it. */
export function addToStream(text: string, entries: readonly Entry[]): string {
  return `${JSON.stringify([...(JSON.parse(text) as Entry[]), ...entries], null, 2)}\n`;
}
