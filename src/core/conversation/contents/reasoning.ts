import { isReasoning } from "../event.ts";
import { type ContentType, strippedContent } from "./content-type.ts";

const { opinion, ...common } = strippedContent("reasoning");

/** The model's reasoning: removed. */
export const reasoningContent: ContentType<"reasoning"> = {
  ...common,
  projected: {
    contentOf: (event) => (isReasoning(event) ? "reasoning" : null),
    opinion,
    shorten: () => null,
  },
  covered: {
    appliesTo: (event) => event.type === "chat_response" && event.reasoning !== undefined,
    expects: ({ reasoning }) => (reasoning === "strip" ? "gone" : undefined),
    isStripped: () => false,
  },
};
