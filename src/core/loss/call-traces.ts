// What the arguments of a tool call tell about its traces: files it touched, commands it ran. Guessed from the names of
// arguments that common agents use; a tool with other names leaves no trace here.

/** Keys of arguments that name files, in the tools of common agents. */
const FILE_KEYS: readonly string[] = [
  "file_path",
  "path",
  "notebook_path",
  "filePath",
  "filename",
  "absolute_path",
  "target_file",
  "paths",
  "files",
];
/** Keys of arguments that hold a command line, as one text or as words. */
const COMMAND_KEYS: readonly string[] = ["command", "cmd", "script"];
/** Longest first line given, characters. */
const LINE_LENGTH = 120;

/**
 * Gives the files that the arguments of a call name, at the top or in a list of objects there, in order; a file named twice
 * comes twice.
 */
export function filesNamed(args: unknown): readonly string[] {
  if (Array.isArray(args)) return args.flatMap(filesNamed);
  if (typeof args !== "object" || args === null) return [];
  return Object.entries(args).flatMap(([key, entry]) => {
    if (!FILE_KEYS.includes(key)) return Array.isArray(entry) ? filesNamed(entry) : [];
    return (Array.isArray(entry) ? entry : [entry])
      .filter((name) => typeof name === "string" && name !== "")
      .map(firstLine);
  });
}

/** Gives the first lines of the commands that the arguments of a call run. */
export function commandsRun(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => {
    if (!COMMAND_KEYS.includes(key)) return [];
    const command = Array.isArray(entry) ? entry.filter((word) => typeof word === "string").join(" ") : entry;
    return typeof command === "string" && command.trim() !== "" ? [firstLine(command)] : [];
  });
}

/** Gives the first line of a text that is not blank, shortened to 120 characters. */
export function firstLine(text: string): string {
  const [line = ""] = text.trim().split(/\r?\n/, 1);
  return line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH - 1)}…` : line;
}
