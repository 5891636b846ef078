import { describe, expect, it } from "vitest";
import { renderAttachment } from "../../../src/formats/claude-code/attachments.ts";

const render = (attachment: Record<string, unknown>): string => renderAttachment({ type: "attachment", attachment });

describe("renderAttachment", () => {
  it.each([
    [{ type: "agent_listing_delta", addedLines: ["- Plan: plans"] }, "Available agent types:\n- Plan: plans"],
    [
      { type: "compact_file_reference", displayPath: "a.ts" },
      "a.ts was read before the conversation was compacted; its content is not repeated.",
    ],
    [{ type: "date_change", newDate: "2026-03-02" }, "The date is now 2026-03-02."],
    [{ type: "deferred_tools_delta", addedNames: ["Tide", "Moon"] }, "Tools available on request:\nTide\nMoon"],
    [
      {
        type: "diagnostics",
        files: [{ uri: "a.ts", diagnostics: [{ message: "no such name", range: { start: { line: 4 } } }] }],
      },
      "New diagnostics:\na.ts:\n  [line 5] no such name",
    ],
    [
      { type: "edited_text_file", filename: "a.ts", snippet: "1\tx" },
      "a.ts changed on disk since it was last read:\n1\tx",
    ],
    [
      { type: "file", filename: "a.ts", content: { type: "text", file: { filePath: "a.ts", content: "let a" } } },
      "Content of a.ts:\nlet a",
    ],
    [
      { type: "hook_additional_context", hookName: "SessionStart", content: ["one", "two"] },
      "SessionStart hook additional context: one\ntwo",
    ],
    [
      { type: "hook_blocking_error", hookName: "Stop", blockingError: { blockingError: "not yet" } },
      "Stop hook blocked: not yet",
    ],
    [
      { type: "invoked_skills", skills: [{ name: "sail", content: "how to" }] },
      "Skills invoked in this session:\nsail\nhow to",
    ],
    [{ type: "mcp_instructions_delta", addedBlocks: ["## charts"] }, "MCP server instructions:\n## charts"],
    [
      { type: "nested_memory", path: "docs/CLAUDE.md", content: { content: "be kind" } },
      "Contents of docs/CLAUDE.md:\n\nbe kind",
    ],
    [{ type: "plan_mode" }, "Plan mode is on."],
    [{ type: "plan_mode_exit" }, "Plan mode is off."],
    [
      { type: "queued_command", prompt: [{ type: "text", text: "task done" }], commandMode: "task-notification" },
      "task done",
    ],
    [{ type: "read_truncation_notice", banner: "cut at 2000 lines" }, "cut at 2000 lines"],
    [{ type: "skill_listing", content: "- sail" }, "Available skills:\n- sail"],
    [{ type: "task_status", description: "Survey", status: "done" }, "Task Survey: done"],
    [{ type: "deferred_tools_delta", removedNames: ["Tide"] }, "Tools that are gone:\nTide"],
    [
      { type: "deferred_tools_delta", addedNames: [], pendingMcpServers: ["charts"] },
      "MCP servers that are still connecting:\ncharts",
    ],
    [{ type: "deferred_tools_delta", addedNames: [], removedNames: [] }, ""],
    [
      { type: "mcp_instructions_delta", removedNames: ["charts"] },
      "MCP servers that are gone, with their instructions:\ncharts",
    ],
    [{ type: "auto_mode" }, "Auto mode is on."],
    [{ type: "ultra_effort_exit" }, "Ultracode is off."],
    [
      { type: "hook_success", hookEvent: "UserPromptSubmit", hookName: "UserPromptSubmit", content: "hello" },
      "UserPromptSubmit hook success: hello",
    ],
    [{ type: "hook_success", hookEvent: "UserPromptSubmit", hookName: "UserPromptSubmit", content: "" }, ""],
    [{ type: "hook_success", hookEvent: "PostToolUse", hookName: "PostToolUse:Bash", content: "hello" }, ""],
    [{ type: "selected_lines_in_ide", filename: "a.ts", content: "let a" }, "The user selected lines of a.ts:\nlet a"],
    [{ type: "token_usage", used: 5, total: 10 }, "Tokens: 5 of 10 are used."],
    [{ type: "hook_system_message", content: "for the user" }, ""],
    [{ type: "command_permissions", allowedTools: ["Bash"] }, ""],
    [{ type: "goal_status", condition: "done" }, ""],
    [{ type: "todo_reminder", content: [] }, ""],
    [{ type: "unheard_of", text: "x" }, ""],
    [{}, ""],
  ])("says what %j means", (attachment, text) => {
    expect(render(attachment)).toBe(text);
  });

  it("gives the text that the agent stored as sent, when it stored one", () => {
    const attachment = { type: "plan_mode" };
    expect(
      renderAttachment({ type: "attachment", attachment, rendered: [{ content: "a" }, { content: "b" }, 3] }),
    ).toBe("a\n\nb");
    expect(renderAttachment({ type: "attachment", attachment: { ...attachment, rendered: [{ text: "c" }] } })).toBe(
      "c",
    );
  });
});
