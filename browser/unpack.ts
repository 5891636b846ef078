// Unpacks the long texts of a file once the page is loaded, so that they can be read and found.
import { colourIn } from "./colour.ts";
import { all } from "./dom.ts";

let unpacking: Promise<void> = Promise.resolve();

/** Begins to unpack them. */
export function unpackTexts(): void {
  unpacking = unpackAll();
}

/** Waits until all are. */
export function unpacked(): Promise<void> {
  return unpacking;
}

async function unpackAll(): Promise<void> {
  for (const note of all(".packed")) {
    const text = await unpack(note.dataset["rest"] ?? "");
    const block = note.previousElementSibling;
    const shown = block?.querySelector("code, del, ins") ?? block;
    if (shown == null) continue;
    shown.textContent = `${shown.textContent ?? ""}${text}`;
    note.remove();
    if (block !== null) colourIn(block);
  }
}

async function unpack(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}
