// What Google's generateContent is sent for a request.
import type { Content, GenerateContentConfig, GenerateContentParameters, Part } from "@google/genai/web";
import { defined } from "../core/json.ts";
import { toGoogleThread } from "../core/model/google-thread.ts";
import { joinPrompts, splitPrompts } from "../core/model/thread.ts";
import type { LlmRequest } from "./llm-client.ts";

/** Gives what the library is asked with for an answer; the same request always gives the same. */
export function toGoogleParameters(request: LlmRequest): GenerateContentParameters {
  const { model, tools = [], maxTokens } = request;
  const { prompt, contents } = toInput(request);
  const config: GenerateContentConfig = {
    // The library would run tools and ask on by itself.
    automaticFunctionCalling: { disable: true },
    automaticContinuation: false,
    ...(prompt !== "" && { systemInstruction: { parts: [{ text: prompt }] } }),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: toDeclarations(tools) }] }),
    ...defined({ maxOutputTokens: maxTokens }),
  };
  return { model, contents, config };
}

/** Gives the same as the body that the library sends: the model stands in the address. */
export function toGoogleBody(request: LlmRequest): Readonly<Record<string, unknown>> {
  const { contents, config: { systemInstruction, tools, maxOutputTokens } = {} } = toGoogleParameters(request);
  return {
    ...defined({ systemInstruction }),
    contents,
    ...defined({ tools }),
    ...(maxOutputTokens !== undefined && { generationConfig: { maxOutputTokens } }),
  };
}

/** Gives what is counted: the library counts contents only, so the prompt and the tools go along as texts. */
export function toCountedContents(request: LlmRequest): Content[] {
  const { prompt, contents } = toInput(request);
  const tools = request.tools === undefined ? "" : JSON.stringify(toDeclarations(request.tools));
  const beside = [prompt, tools].filter((text) => text !== "" && text !== "[]");
  return [...(beside.length > 0 ? [{ role: "user", parts: beside.map((text) => ({ text })) }] : []), ...contents];
}

function toInput({ model, view, system }: LlmRequest): { readonly prompt: string; readonly contents: Content[] } {
  const { prompts, rest } = splitPrompts(view);
  const { messages } = toGoogleThread(rest, { model, complete: true });
  return {
    prompt: joinPrompts(system, prompts),
    contents: messages.map(({ role, blocks }) => ({
      role: role === "assistant" ? "model" : "user",
      parts: blocks.map(({ block }) => block as Part),
    })),
  };
}

function toDeclarations(tools: NonNullable<LlmRequest["tools"]>): Declaration[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, parametersJsonSchema: parameters }));
}

interface Declaration {
  readonly name: string;
  readonly description: string;
  readonly parametersJsonSchema: unknown;
}
