import { stubAttachments } from "../attachment.ts";
import { type ContentType, strippedContent } from "./content-type.ts";

const { opinion, ...common } = strippedContent("attachments");

/** Images, documents and attached files of requests, each replaced by a short text. */
export const attachmentsContent: ContentType<"attachments"> = {
  ...common,
  touchesRequests: true,
  projected: {
    contentOf: ({ type }) => (type === "chat_request" ? "attachments" : null),
    opinion,
    shorten: (event) => (event.type === "chat_request" ? stubAttachments(event) : event),
  },
  covered: {
    appliesTo: ({ type }) => type === "chat_request",
    expects: ({ attachments }) => (attachments === "strip" ? "stripped" : undefined),
    isStripped: ({ copy }) => {
      if (copy.type !== "chat_request" || !Array.isArray(copy.content)) return true;
      return copy.content.every(({ type }) => type !== "image" && type !== "document" && type !== "attachment");
    },
  },
};
