// The text of an attachment line as a model is told it. Files since 2.1.330 carry what was sent; for older ones the text
// says the same in the same order, from the attachment's own fields.
import { renderedTexts } from "./attachment-kind.ts";
import { isRecord, type RawLine, recordOf, stringOf, stringsOf } from "./line.ts";

type Renderer = (attachment: RawLine) => string;

const RENDERERS: Readonly<Record<string, Renderer>> = {
  agent_listing_delta: (it) => listing("Available agent types:", stringsOf(it, "addedLines")),
  compact_file_reference: (it) =>
    `${fileName(it)} was read before the conversation was compacted; its content is not repeated.`,
  date_change: (it) => `The date is now ${stringOf(it, "newDate") ?? "unknown"}.`,
  deferred_tools_delta: (it) => listing("Tools available on request:", stringsOf(it, "addedNames")),
  diagnostics: (it) => `New diagnostics:\n${diagnosticLines(it["files"]).join("\n")}`,
  edited_text_file: (it) => `${fileName(it)} changed on disk since it was last read:\n${stringOf(it, "snippet") ?? ""}`,
  file: (it) => `Content of ${fileName(it)}:\n${fileText(it["content"])}`,
  hook_additional_context: (it) =>
    `${stringOf(it, "hookName") ?? "A"} hook additional context: ${hookText(it["content"])}`,
  hook_blocking_error: (it) => `${stringOf(it, "hookName") ?? "A"} hook blocked: ${hookError(it)}`,
  invoked_skills: (it) => listing("Skills invoked in this session:", namedTexts(it["skills"])),
  mcp_instructions_delta: (it) => listing("MCP server instructions:", stringsOf(it, "addedBlocks")),
  nested_memory: (it) => `Contents of ${stringOf(it, "path") ?? "a memory file"}:\n\n${fileText(it["content"])}`,
  plan_mode: () => "Plan mode is on.",
  plan_mode_exit: () => "Plan mode is off.",
  queued_command: (it) => fileText(it["prompt"]),
  read_truncation_notice: (it) => stringOf(it, "banner") ?? "",
  skill_listing: (it) => `Available skills:\n${stringOf(it, "content") ?? ""}`,
  task_status: (it) => `Task ${stringOf(it, "description") ?? ""}: ${stringOf(it, "status") ?? ""}`,
};

/** Renders an attachment line for a model; empty when it holds nothing to say. */
export function renderAttachment(line: RawLine): string {
  const rendered = renderedTexts(line);
  if (rendered.length > 0) return rendered.join("\n\n");
  const attachment = recordOf(line, "attachment") ?? {};
  const type = stringOf(attachment, "type") ?? "";
  return Object.hasOwn(RENDERERS, type) ? (RENDERERS[type]?.(attachment) ?? "") : "";
}

function listing(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}\n${lines.join("\n")}`;
}

function fileName(attachment: RawLine): string {
  return stringOf(attachment, "filename") ?? stringOf(attachment, "displayPath") ?? "A file";
}

/** Text of a file or memory, wherever its kind keeps it. */
function fileText(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content))
    return content
      .map(fileText)
      .filter((text) => text !== "")
      .join("\n");
  if (!isRecord(content)) return "";
  return stringOf(content, "text") ?? stringOf(content, "content") ?? fileText(content["file"] ?? content["content"]);
}

function hookText(content: unknown): string {
  return Array.isArray(content) ? content.map(fileText).join("\n") : fileText(content);
}

function hookError(attachment: RawLine): string {
  const error = attachment["blockingError"];
  return typeof error === "string" ? error : (stringOf(isRecord(error) ? error : {}, "blockingError") ?? "");
}

function namedTexts(skills: unknown): readonly string[] {
  if (!Array.isArray(skills)) return [];
  return skills
    .filter(isRecord)
    .map((skill) => `${stringOf(skill, "name") ?? ""}\n${stringOf(skill, "content") ?? ""}`.trim());
}

function diagnosticLines(files: unknown): readonly string[] {
  if (!Array.isArray(files)) return [];
  return files.filter(isRecord).flatMap((file) => {
    const found = Array.isArray(file["diagnostics"]) ? file["diagnostics"].filter(isRecord) : [];
    return [
      `${stringOf(file, "uri") ?? ""}:`,
      ...found.map((item) => `  ${position(item)}${stringOf(item, "message") ?? ""}`),
    ];
  });
}

/** Diagnostics count lines from 0; people from 1. */
function position(diagnostic: RawLine): string {
  const line = recordOf(recordOf(diagnostic, "range") ?? {}, "start")?.["line"];
  return typeof line === "number" ? `[line ${line + 1}] ` : "";
}
