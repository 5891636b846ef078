// Where the values of a JSON text stand in it, so that one can be put in or taken out and the rest stays as its owner wrote it.
// Comments and commas behind the last value are let pass, as agents do in their settings.

/** A value and where it stands: `start` inclusive, `end` exclusive, in characters. */
export interface OutlineNode {
  readonly start: number;
  readonly end: number;
  /** A list or an object has parts; null = any other value. */
  readonly parts: readonly OutlinePart[] | null;
  readonly isList: boolean;
}

/** An item of a list, or a member of an object: `start` is that of the key then. */
export interface OutlinePart {
  readonly key: string | null;
  readonly start: number;
  readonly value: OutlineNode;
  /** The comma behind it, null where none is. */
  readonly comma: number | null;
}

/** Deeper settings are not read. */
const MOST_LEVELS = 200;
const PLAIN_VALUE = /true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const BLANK = /(?:[\s\uFEFF]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;

/** Outlines a text; null when it is no JSON. */
export function outlineJson(text: string): OutlineNode | null {
  try {
    const scanner = new Scanner(text);
    const root = scanner.value(0);
    return scanner.isAtEnd() ? root : null;
  } catch (error) {
    if (error instanceof NotJson) return null;
    throw error;
  }
}

/** The value of a part of a text. Throws `SyntaxError` for strings with escapes that JSON does not know. */
export function valueAt(text: string, node: OutlineNode): unknown {
  if (node.parts === null) return JSON.parse(text.slice(node.start, node.end));
  if (node.isList) return node.parts.map(({ value }) => valueAt(text, value));
  return Object.fromEntries(node.parts.map(({ key, value }) => [key ?? "", valueAt(text, value)]));
}

class NotJson extends Error {}

class Scanner {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
    this.take(BLANK);
  }

  isAtEnd(): boolean {
    this.take(BLANK);
    return this.at === this.text.length;
  }

  /** Reads a value. Throws `NotJson`. */
  value(level: number): OutlineNode {
    if (level > MOST_LEVELS) throw new NotJson();
    const start = this.at;
    const isList = this.skip("[");
    if (isList || this.skip("{")) {
      const parts = this.parts(isList, level);
      return { start, end: this.at, parts, isList };
    }
    if (!this.take(STRING) && !this.take(PLAIN_VALUE)) throw new NotJson();
    return { start, end: this.at, parts: null, isList: false };
  }

  private parts(isList: boolean, level: number): readonly OutlinePart[] {
    const parts: OutlinePart[] = [];
    for (this.take(BLANK); !this.skip(isList ? "]" : "}"); this.take(BLANK)) {
      if (parts.length > 0 && parts.at(-1)?.comma === null) throw new NotJson();
      const start = this.at;
      const key = isList ? null : this.key();
      const value = this.value(level + 1);
      this.take(BLANK);
      const comma = this.at;
      parts.push({ key, start, value, comma: this.skip(",") ? comma : null });
    }
    return parts;
  }

  private key(): string {
    const start = this.at;
    if (!this.take(STRING)) throw new NotJson();
    const key = this.text.slice(start, this.at);
    this.take(BLANK);
    if (!this.skip(":")) throw new NotJson();
    this.take(BLANK);
    try {
      return JSON.parse(key) as string;
    } catch {
      throw new NotJson();
    }
  }

  private skip(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }
}
