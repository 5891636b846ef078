// The small plain values of a foreign object: what a note keeps of a line whose whole lives on in the sources.
import type { RawLine } from "./json-line.ts";

/** Longest text that is kept, in characters. */
const MAX_TEXT = 200;

/** Whether a value is one that a note keeps: a number, a truth value, a text that is not empty. */
export function isPlain(value: unknown): boolean {
  return typeof value === "string" ? value !== "" : typeof value === "number" || typeof value === "boolean";
}

/** Cuts a long text; other values stay as they are. */
export function shorten(value: unknown): unknown {
  return typeof value === "string" && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
}

/** Gives the plain values of an object, texts cut. */
export function plainValues(line: RawLine): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(line).flatMap(([key, value]) => (isPlain(value) ? [[key, shorten(value)]] : [])),
  );
}
