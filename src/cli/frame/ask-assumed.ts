// Where nobody named a model and one provider has a key: said on standard error, and asked there before a conversation is sent.
import type { AssumptionVoice } from "../../app/talk/chat-model.ts";
import { defined } from "../../core/json.ts";
import { forTerminalLine } from "../../core/safe-text.ts";
import { askYesNo } from "./ask.ts";
import type { Output } from "./output.ts";

/** Creates who says and asks it at the terminal. */
export function createAssumptionVoice(output: Output, signal?: AbortSignal): AssumptionVoice {
  return {
    say: (text) => output.info(forTerminalLine(text)),
    allow: (question) => askYesNo({ ...question, otherwise: "no" }, { output, ...defined({ signal }) }),
  };
}
