// Inputs with something wrong in them, for every format that jpg reads: each is made of a number alone, so that one that was
// found can be made again. What is wrong is in values, in lines, and in bytes.
import { createHash } from "node:crypto";
import { EXPORTED, sampleBodies } from "./sample-inputs.ts";

/** A source of numbers that always gives the same for one seed: mulberry32. */
function createDice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

type Dice = ReturnType<typeof createDice>;

const nested = (levels: number): unknown => {
  let value: unknown = "core";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

const ODD: readonly unknown[] = [
  ...[
    "",
    " ",
    "\n",
    "a\nb",
    "\u0000\u001b]52;c;\u0007",
    "\ud800",
    "\ufeffx",
    "\u202e",
    "__proto__",
    "constructor",
    "$attachment",
  ],
  ...[
    "../../x",
    ".git",
    "-",
    "9".repeat(400),
    "x".repeat(20_000),
    "1999-99-99T00:00:00Z",
    "+275760-09-13T00:00:00.001Z",
  ],
  ...[
    "user",
    "assistant",
    "tool",
    "system",
    "message",
    "compaction",
    "text",
    "tool_use",
    "tool_result",
    "function_call",
  ],
  ...[
    null,
    true,
    false,
    0,
    -1,
    0.5,
    1e308,
    2 ** 53,
    [],
    {},
    [[]],
    [null],
    [{}],
    [1, "a"],
    [{ type: "text" }, { type: 1 }],
  ],
  ...[{ $attachment: "x" }, { $$attachment: null }, { toString: 1 }, { length: 1e9 }, nested(60), nested(600)],
];

/** Makes the input of a format by a number. */
export function mutatedInput(format: string, seed: number): Buffer {
  const dice = createDice(createHash("sha256").update(`${format} ${seed}`).digest().readUInt32LE(0));
  const bodies = sampleBodies(format);
  let bytes: Buffer = Buffer.from(bodies[dice(bodies.length)] ?? "");
  for (let left = 1 + dice(5); left > 0; left--) {
    const kind = dice(10);
    bytes = kind < 6 ? mutateValues(bytes, dice) : kind < 8 ? mutateLines(bytes, dice) : mutateBytes(bytes, dice);
  }
  return bytes;
}

/** Changes a value of a line, or of the whole where it is one document. */
function mutateValues(bytes: Buffer, dice: Dice): Buffer {
  const text = bytes.toString();
  const whole = parse(text);
  if (whole !== undefined) return Buffer.from(write(change(whole, dice)));
  const lines = text.split("\n");
  const at = dice(lines.length);
  const line = parse(lines[at] ?? "");
  if (line === undefined) return mutateLines(bytes, dice);
  lines[at] = write(change(line, dice));
  return Buffer.from(lines.join("\n"));
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined; // several lines, or damaged before
  }
}

/** What nests too deep for JSON.stringify is written by hand, as an attacker would. */
function write(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`;
  }
}

/** Goes down some way and changes what it ends at: another value, none, or one from elsewhere. */
function change(root: unknown, dice: Dice): unknown {
  const holder = { root };
  let parent = holder as Record<string, unknown>;
  let key = "root";
  for (let depth = 1 + dice(8); depth > 0; depth--) {
    const inner = parent[key];
    const keys = typeof inner === "object" && inner !== null ? Object.keys(inner) : [];
    if (keys.length === 0) break;
    parent = inner as Record<string, unknown>;
    key = keys[dice(keys.length)] ?? "";
  }
  switch (dice(6)) {
    case 0:
      delete parent[key];
      break;
    case 1:
      parent[key] = holder.root === parent[key] ? null : structuredClone(holder.root);
      break;
    case 2: {
      const keys = Object.keys(parent);
      parent[key] = parent[keys[dice(keys.length)] ?? key];
      break;
    }
    default:
      parent[key] = ODD[dice(ODD.length)];
  }
  return holder.root;
}

function mutateLines(bytes: Buffer, dice: Dice): Buffer {
  const lines = bytes.toString().split("\n");
  const at = dice(lines.length);
  const line = lines[at] ?? "";
  switch (dice(7)) {
    case 0:
      lines.splice(at, 0, line);
      break;
    case 1:
      lines.splice(at, 1);
      break;
    case 2:
      lines.push(...lines.splice(at, 1));
      break;
    case 3:
      lines[at] = line.slice(0, dice(line.length + 1));
      break;
    case 4:
      lines[at] = `\ufeff${line}`;
      break;
    case 5:
      lines[at] = `\u0000${line}`;
      break;
    default:
      lines[at] = `${line}${line}`;
  }
  return Buffer.from(lines.join("\n"));
}

function mutateBytes(bytes: Buffer, dice: Dice): Buffer {
  const at = dice(bytes.length + 1);
  switch (dice(4)) {
    case 0: {
      const changed = Buffer.from(bytes);
      for (let left = 1 + dice(8); left > 0 && changed.length > 0; left--) changed[dice(changed.length)] = dice(256);
      return changed;
    }
    case 1:
      return bytes.subarray(0, at);
    case 2: {
      const other = Buffer.from(EXPORTED[dice(EXPORTED.length)] ?? "");
      const from = dice(other.length + 1);
      return Buffer.concat([bytes.subarray(0, at), other.subarray(from, from + dice(4000)), bytes.subarray(at)]);
    }
    default:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from("\r\n\u2028\0}{]["), bytes.subarray(at)]);
  }
}
