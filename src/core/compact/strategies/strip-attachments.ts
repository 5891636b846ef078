import { stubAttachments as withoutAttachments } from "../../conversation/attachment.ts";
import type { Strategy } from "./strategy.ts";

/** `strip-attachments`: takes images, documents and attached files out of requests. */
export const stripAttachments: Strategy = {
  name: "strip-attachments",
  summary: "leave images, documents and attached files out of requests",
  touchesRequests: true,
  decide: ({ open }) => {
    const hasAttachments = open.some(
      ({ event, state }) =>
        state.now === undefined && event.type === "chat_request" && withoutAttachments(event) !== event,
    );
    return hasAttachments ? { attachments: "strip" } : {};
  },
};
