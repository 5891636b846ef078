// Sharing over the git program.
import type { Sharing } from "../../sharing.ts";
import type { Repository } from "../git/git-command.ts";
import { forgetTracked, packBundle } from "./bundle.ts";
import { listOutgoing, listTouching, presentCommits } from "./history.ts";
import { markLocal, readLocalMarks } from "./local-marks.ts";
import { mergeBases } from "./merge-bases.ts";
import { pushTips } from "./push-tips.ts";
import { makeReadme } from "./readme.ts";
import { followBranches, forgetRemote, readRemotes, writeRemote } from "./remote-config.ts";
import { fetchRemote, listRemoteRefs, listTracked } from "./transfer.ts";

/** The sharing of a repository. */
export function createSharing(repository: Repository): Sharing {
  return {
    remotes: () => readRemotes(repository),
    addRemote: (remote) => writeRemote(repository, remote),
    removeRemote: (name) => forgetRemote(repository, name),
    listRefs: (url, options) => listRemoteRefs(repository, url, options),
    makeReadme: (url, text, options) => makeReadme(repository, { url, text }, options),
    fetch: (remote, options) => fetchRemote(repository, remote, options),
    follow: (remote, branches) => followBranches(repository, remote, branches),
    tracked: (name) => listTracked(repository, name),
    push: (remote, tips, options = {}) => pushTips(repository, remote, { tips, options }),
    present: (commits) => presentCommits(repository, commits),
    outgoing: (objects) => listOutgoing(repository, objects),
    touching: (objects, path) => listTouching(repository, objects, path),
    bundle: async (branches) => packBundle(repository, branches),
    forgetTracked: (name) => forgetTracked(repository, name),
    mergeBases: (pairs, isAside) => mergeBases(repository, pairs, isAside),
    localConversations: () => readLocalMarks(repository),
    markLocal: (conversation, isLocal) => markLocal(repository, conversation, isLocal),
  };
}
