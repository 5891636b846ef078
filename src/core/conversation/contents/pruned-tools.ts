import { fieldsLike, is, listOf, oneOfWords } from "../record-rules.ts";
import type { ContentType } from "./content-type.ts";

/** Definitions of tools that are no longer sent: changes no event. */
export const prunedToolsContent: ContentType<"tools"> = {
  content: "tools",
  fields: { tools: fieldsLike({ policy: oneOfWords("prune"), names: listOf(is.text) }, { tokens: is.whole }) },
  describe: ({ names: { length } }) =>
    length === 0 ? {} : { other: [`${length} unused ${length === 1 ? "tool" : "tools"} pruned`] },
  brief: ({ names }) => `prune:${names.length}`,
};
