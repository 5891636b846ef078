// Reads requests of Google's generateContent: `{systemInstruction, contents, tools}`, or the contents alone.

import { readToolDefinition, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { fieldsOf } from "../../core/conversation/event.ts";
import type { AgentFormat } from "../agent-format.ts";
import { createBodyFormat } from "../request-body/body-format.ts";
import { createContentReader, keyOf, partsOf, textOfParts } from "./read-contents.ts";

/** Requests of Google's generateContent. */
export const GOOGLE_REQUESTS: AgentFormat = createBodyFormat({
  name: "google",
  title: "Google generateContent",
  shape: "an object with `contents` that have `parts`",
  read: (body, list) => {
    const { model, tools } = body;
    const readContent = createContentReader({ provider: "google", ...(typeof model === "string" && { model }) });
    return {
      prompt: textOfParts(partsOf(keyOf(body, "systemInstruction"))),
      messages: list.map((content) => readContent(fieldsOf(content))),
      tools: toolsOf(tools),
    };
  },
});

function toolsOf(tools: unknown): readonly ToolDefinition[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool) => {
    const declared = keyOf(fieldsOf(tool), "functionDeclarations");
    return Array.isArray(declared) ? declared.flatMap((one) => toolOf(one) ?? []) : [];
  });
}

function toolOf(declaration: unknown): ToolDefinition | null {
  const fields = fieldsOf(declaration);
  const parameters = keyOf(fields, "parametersJsonSchema") ?? fields["parameters"];
  return readToolDefinition({ name: fields["name"], description: fields["description"], parameters });
}
