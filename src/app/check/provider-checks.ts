// The providers as check and export need them: how jpg renders a view for each, and the rules it is held against.
import type { View } from "../../core/conversation/event.ts";
import { type AnthropicMessage, checkAnthropic } from "../../core/model/anthropic-rules.ts";
import { checkGoogle, type GoogleContent } from "../../core/model/google-rules.ts";
import { checkOpenAiChat } from "../../core/model/openai-chat-rules.ts";
import { checkOpenAiResponses } from "../../core/model/openai-responses-rules.ts";
import type { ProviderName, Violation } from "../../core/model/provider-rules.ts";
import { exportAnthropic } from "../../formats/anthropic/write.ts";
import { exportGoogle } from "../../formats/google/write.ts";
import { exportOpenAiChat } from "../../formats/openai-chat/write.ts";
import { exportOpenAiResponses } from "../../formats/openai-responses/write.ts";

/** A list as its provider reads it: messages, input items or contents. */
export type ProviderList = readonly unknown[];

/** What a list is checked for. */
export interface ProviderCheckOptions {
  readonly model?: string;
  /** Whether it is sent as it stands; false = a request will follow. */
  readonly complete: boolean;
  readonly thinking?: boolean;
  readonly previousResponse?: string;
}

export interface ProviderChecks {
  /** The list that jpg sends of a view. */
  readonly render: (view: View, options: { readonly model?: string }) => ProviderList;
  readonly check: (list: ProviderList, options: ProviderCheckOptions) => readonly Violation[];
}

export const PROVIDER_CHECKS: Readonly<Record<ProviderName, ProviderChecks>> = {
  anthropic: {
    render: (view, options) => exportAnthropic(view, options).messages,
    check: (list, options) => checkAnthropic(list as readonly AnthropicMessage[], options),
  },
  "openai-chat": {
    render: (view, options) => exportOpenAiChat(view, options).messages,
    check: checkOpenAiChat,
  },
  "openai-responses": {
    render: (view, options) => exportOpenAiResponses(view, options).input,
    check: (list, { previousResponse }) =>
      checkOpenAiResponses(list, previousResponse === undefined ? {} : { previous_response_id: previousResponse }),
  },
  google: {
    render: (view, options) => exportGoogle(view, options).contents,
    check: (list, options) => checkGoogle(list as readonly GoogleContent[], options),
  },
};
