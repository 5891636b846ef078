// Names that a text defines, in the languages that agents mostly work in: told from the word before them, not parsed.

const DEFINED =
  /\b(?:function|class|interface|type|const|def|fn|func(?: ?\([^()\n]{1,60}\))?|struct|enum|trait)\s{1,4}([A-Za-z_]\w{3,59})/g;

/** Gives the names of four characters and more that a text defines, in order; a name may come twice. */
export function* definedNames(text: string): Generator<string> {
  for (const [, name] of text.matchAll(DEFINED)) if (name !== undefined) yield name;
}
