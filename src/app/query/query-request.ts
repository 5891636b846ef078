// What is asked of a model, of which model, with which tools.
import type { Config } from "../../config/config.ts";
import type { Content } from "../../core/conversation/event.ts";
import type { BranchTree, ConversationHeader } from "../branch/branch-tree.ts";
import type { OpenedModel } from "../models/models.ts";
import type { ToolBox } from "../programs/tool-box.ts";
import type { AssumptionVoice } from "./chat-model.ts";

/** What tools are opened with. */
export interface ToolOpening {
  readonly config: Config;
  /** The model that is offered them, while it is being opened. */
  readonly model: Promise<OpenedModel>;
}

export interface QueryRequest {
  readonly content: Content;
  /** Model that answers, from now on; absent = the one of the settings, else the one that answered last. */
  readonly model?: string;
  /** Told, and asked, where nobody named a model and one provider has a key; without it a model has to be named. */
  readonly voice?: AssumptionVoice;
  /** A model that was opened before, in place of choosing and opening one. */
  readonly opened?: OpenedModel;
  /** Tools that are open; the caller closes them. */
  readonly tools?: ToolBox;
  /** Opens tools for this turn alone, while the model is being opened. */
  readonly openTools?: (opening: ToolOpening) => Promise<ToolBox>;
  /** The branch as the caller has read it, in place of reading it again. */
  readonly tree?: BranchTree;
  /** Ends the turn; what came is kept. */
  readonly signal: AbortSignal;
  /** Rounds of tool calls before the turn ends; default 50. */
  readonly maxToolRounds?: number;
  /** Begins a conversation when the branch does not exist (see new-conversation.ts). */
  readonly root?: ConversationHeader;
}
