// The first commit of a conversation, and who signs what a program writes.

import { recordMessage } from "../../store/messages.ts";
import type { CommitSpec, Signature } from "../../store/store.ts";
import { BRANCH_ATTRIBUTES, type ConversationHeader } from "./branch-tree.ts";

/** The first commit of a conversation: what never changes. */
export function rootCommit(
  header: ConversationHeader,
  agent: { readonly name: string; readonly email: string },
): CommitSpec {
  const signature = sign(agent, Math.floor(Date.parse(header.created_at) / 1000) || 0);
  return {
    message: recordMessage("conversation", header.title),
    author: signature,
    committer: signature,
    changes: [
      { path: ".gitattributes", bytes: encode(BRANCH_ATTRIBUTES) },
      { path: "conversation.json", bytes: encode(`${JSON.stringify(header)}\n`) },
    ],
  };
}

/** Who wrote a commit, at a time in seconds since 1970. */
export function sign(agent: { readonly name: string; readonly email: string }, seconds: number): Signature {
  return { name: agent.name, email: agent.email, seconds };
}

/** A text as UTF-8. */
export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
