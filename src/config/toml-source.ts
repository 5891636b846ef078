// A TOML file as a table and the lines of its keys. The text comes from the caller; nothing is opened here.
import { parse, TomlError } from "smol-toml";
import { asSentence, JpgError } from "../core/errors.ts";
import { type LineOfKey, scanKeyLines } from "./key-lines.ts";

/** A parsed TOML text. Tables have no prototype; `__proto__` is an ordinary key in them. */
export interface TomlSource {
  readonly table: Readonly<Record<string, unknown>>;
  readonly lineOf: LineOfKey;
}

/** Parses a TOML text. Throws `bad_toml` with file, line, column and the text of the line. */
export function parseToml(text: string, file: string): TomlSource {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  try {
    return { table: parse(plain), lineOf: scanKeyLines(plain) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw badToml(error, plain, file);
  }
}

function badToml(error: TomlError, text: string, file: string): JpgError {
  const { line, column } = error;
  const reason = (error.message.split("\n")[0] ?? "").replace("Invalid TOML document: ", "");
  const excerpt = (text.split("\n")[line - 1] ?? "").trim().slice(0, 80);
  return new JpgError(
    "config",
    "bad_toml",
    `${file}:${line}:${column}: expected TOML, received \`${excerpt}\`: ${asSentence(reason)}`,
    {
      hints: [`Correct line ${line} of ${file}; texts need quotes: model = "anthropic/claude-haiku"`],
      data: { file, line, column },
      cause: error,
    },
  );
}
