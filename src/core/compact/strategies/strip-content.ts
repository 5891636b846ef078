// Strategies that take out a content type; the type itself defines what replaces it (conversation/contents).
import type { StripPolicies } from "../../conversation/compaction.ts";
import { applyPolicies, shownNow } from "./step-effect.ts";
import type { OpenEvent, Strategy } from "./strategy.ts";

/** `strip-reasoning`: takes the reasoning out. */
export const stripReasoning: Strategy = {
  name: "strip-reasoning",
  summary: "leave out the reasoning",
  decide: ({ open }) => stripped(open, { reasoning: "strip" }),
};

/** `strip-images`: takes images out of requests and results. */
export const stripImages: Strategy = {
  name: "strip-images",
  summary: "leave images out of requests and results, a line for each instead",
  touchesRequests: true,
  decide: ({ open }) => stripped(open, { images: "strip" }),
};

/** `strip-attachments`: takes images, documents and attached files out of requests. */
export const stripAttachments: Strategy = {
  name: "strip-attachments",
  summary: "leave images, documents and attached files out of requests",
  touchesRequests: true,
  decide: ({ open }) => stripped(open, { attachments: "strip" }),
};

/** The policies, if they change something that is shown. */
function stripped(open: readonly OpenEvent[], policies: StripPolicies): StripPolicies {
  const isChanged = open.some((one) => {
    const shown = applyPolicies(one.event, policies) === one.event ? null : shownNow(one);
    return shown !== null && applyPolicies(shown, policies) !== shown;
  });
  return isChanged ? policies : {};
}
