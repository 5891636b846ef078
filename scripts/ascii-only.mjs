// A plugin of rolldown that writes code in ASCII. One character above Latin-1 makes V8 hold the whole file two bytes a character,
// and a file that is not ASCII is decoded slowly: of 355 KB with eight such characters, every command paid for both.

/** Strings, templates and patterns say the same; a template that is read raw, or a backslash before such a character, would not. */
const CHANGES_MEANING = /\.raw`[^`]*[^\0-\x7f]|(?<!\\)(?:\\\\)*\\[^\0-\x7f]/;

export function asciiOnly() {
  return {
    name: "ascii-only",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) if (chunk.type === "chunk") chunk.code = escaped(chunk);
    },
  };
}

function escaped({ fileName, code }) {
  const wrong = CHANGES_MEANING.exec(code);
  if (wrong !== null) throw new Error(`${fileName}: ${JSON.stringify(wrong[0])} cannot be said in ASCII`);
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
