// The fictional project folder: tool calls act on files in memory, so that what the agent reads, edits and greps agrees
// with what it wrote before. Every function gives one call with the result Claude Code would record, but what it keeps
// beside the result for its own screen (never sent to a model) is cut: the sample stays small.

/** Cuts a text that is only kept for the agent's own screen, to 400 characters. */
const brief = (text) => (text.length > 400 ? `${text.slice(0, 400)}…` : text);

/** The files of the project, by relative path. */
export class Project {
  #root;
  #files;

  constructor(root, initial) {
    this.#root = root;
    this.#files = new Map(Object.entries(initial));
  }

  /** Read of a whole file, or of `limit` lines from line `offset` (1-based). */
  read(path, { offset = 1, limit } = {}) {
    const all = this.#text(path).replace(/\n$/, "").split("\n");
    const shown = all.slice(offset - 1, limit === undefined ? undefined : offset - 1 + limit);
    const place = { filePath: this.#full(path), content: brief(shown.join("\n")) };
    return {
      name: "Read",
      input: { file_path: this.#full(path), ...(limit === undefined ? {} : { offset, limit }) },
      content: shown.map((line, index) => `${offset + index}\t${line}`).join("\n"),
      detail: { type: "text", file: { ...place, numLines: shown.length, startLine: offset, totalLines: all.length } },
    };
  }

  /** Write of a new or whole file. */
  write(path, content) {
    const isNew = !this.#files.has(path);
    this.#files.set(path, content);
    const filePath = this.#full(path);
    return {
      name: "Write",
      input: { file_path: filePath, content },
      content: isNew
        ? `File created successfully at: ${filePath}`
        : `The file ${filePath} has been updated successfully.`,
      detail: {
        type: isNew ? "create" : "update",
        filePath,
        content: brief(content),
        structuredPatch: [],
        originalFile: null,
      },
    };
  }

  /** Edit of one place; the old text must occur exactly once. */
  edit(path, oldString, newString) {
    const original = this.#text(path);
    if (original.split(oldString).length !== 2)
      throw new Error(`the story edits ${path}, but this is not there exactly once:\n${oldString}`);
    this.#files.set(
      path,
      original.replace(oldString, () => newString),
    );
    const filePath = this.#full(path);
    const detail = {
      filePath,
      oldString: brief(oldString),
      newString: brief(newString),
      originalFile: null,
      structuredPatch: [],
    };
    return {
      name: "Edit",
      input: { file_path: filePath, old_string: oldString, new_string: newString },
      content: `The file ${filePath} has been updated successfully.`,
      detail: { ...detail, userModified: false, replaceAll: false },
    };
  }

  /** Edit whose old text is found `count` times: the tool refuses. */
  editRefused(path, oldString, newString, count) {
    const message = `Found ${count} matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: ${oldString}`;
    return {
      name: "Edit",
      input: { file_path: this.#full(path), old_string: oldString, new_string: newString },
      content: `<tool_use_error>${message}</tool_use_error>`,
      isError: true,
      detail: `Error: ${message}`,
    };
  }

  /** Grep over the project's files as they are now. */
  grep(pattern, { under = "" } = {}) {
    const matcher = new RegExp(pattern);
    const hitsIn = (path, text) =>
      text.split("\n").flatMap((line, index) => (matcher.test(line) ? [`${path}:${index + 1}:${line}`] : []));
    const hits = [...this.#files].flatMap(([path, text]) => (path.startsWith(under) ? hitsIn(path, text) : []));
    return {
      name: "Grep",
      input: { pattern, path: under === "" ? this.#root : this.#full(under), output_mode: "content", "-n": true },
      content: hits.length === 0 ? "No matches found" : hits.join("\n"),
      detail: { mode: "content", numFiles: 0, filenames: [], content: brief(hits.join("\n")), numLines: hits.length },
    };
  }

  #full(path) {
    return `${this.#root}/${path}`;
  }

  #text(path) {
    const found = this.#files.get(path);
    if (found === undefined) throw new Error(`the story reads ${path}, which is not there`);
    return found;
  }
}

/** A shell command that went well. */
export const bash = (command, description, stdout, seconds = 1.5) => ({
  name: "Bash",
  input: { command, description },
  content: stdout,
  seconds,
  detail: { stdout: brief(stdout), stderr: "", interrupted: false, isImage: false, noOutputExpected: stdout === "" },
});

/** A shell command that failed with an exit code. */
export const bashFailed = (command, description, output, code = 1, seconds = 1.5) => ({
  name: "Bash",
  input: { command, description },
  content: `Exit code ${code}\n${output}`,
  isError: true,
  seconds,
  detail: `Error: Exit code ${code}\n${brief(output)}`,
});

const DONE =
  "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable";

/** The agent's task list; each item is a status and a text. */
export const todos = (...items) => {
  const list = items.map(([status, content]) => ({ content, status, activeForm: content }));
  return { name: "TodoWrite", input: { todos: list }, content: DONE, detail: { oldTodos: [], newTodos: list } };
};
