// Tells a repository of conversations by its content: HEAD's tree has a conversation.json of jpg's form.
import { type Repository, tryCommand } from "./git-command.ts";

/** Whether the commit that HEAD names is one of a conversation. */
export async function isConversationTree(repository: Repository): Promise<boolean> {
  const { code, stdout } = await tryCommand(repository, { args: ["cat-file", "blob", "HEAD:conversation.json"] });
  if (code !== 0) return false;
  try {
    const value: unknown = JSON.parse(stdout.toString());
    return typeof value === "object" && value !== null && "format" in value && "id" in value;
  } catch {
    // Some other program's file of that name.
    return false;
  }
}
