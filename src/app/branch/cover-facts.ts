// What checks of `covers` ask of a stored branch: object ids, the cuts remembered of it, and the text of end turns that are
// cut inside, each read once.
import type { ConversationStore } from "../../store/store.ts";
import { type BranchTree, collectBlobs } from "./branch-tree.ts";
import type { CoverFacts } from "./covers.ts";
import { type CutCache, openCutCache } from "./cut-cache.ts";

/** Gives the facts of a branch at its commit. */
export function coverFacts(
  store: ConversationStore,
  { turnOids }: Pick<BranchTree, "turnOids">,
): CoverFacts & { readonly cuts: CutCache } {
  const decoder = new TextDecoder();
  const texts = new Map<number, Promise<string>>();
  const read = async (index: number): Promise<string> => {
    const [bytes] = await collectBlobs(store, [turnOids[index] ?? ""]);
    return decoder.decode(bytes);
  };
  return {
    turnOids,
    cuts: openCutCache(store.cache("cuts")),
    readText: (index) => {
      const text = texts.get(index) ?? read(index);
      texts.set(index, text);
      return text;
    },
  };
}
