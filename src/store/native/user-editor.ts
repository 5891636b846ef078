// The editor that the user's own git settings name. A store's own settings start no program.
import { type Repository, tryCommand } from "./git/git-command.ts";

/** Reads `core.editor` of the user's settings; null where there is none. */
export async function readEditor(repository: Repository): Promise<string | null> {
  const { code, stdout } = await tryCommand(repository, { args: ["config", "--global", "--get", "core.editor"] });
  const editor = stdout.toString().trim();
  return code !== 0 || editor === "" ? null : editor;
}
