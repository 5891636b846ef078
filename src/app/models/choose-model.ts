// Which model is asked. Text goes only to a provider that the user's own settings, a flag of this call or a trusted project
// names (decision 019): a conversation's last model, a key and an address in the environment choose among those and never
// add one. A name that a person gave is never replaced by another; without any, a summary is an extract that no model writes.
import { type Config, namedProviderOf, namedProviders } from "../../config/config.ts";
import { EXTRACTIVE } from "../../core/conversation/compaction.ts";
import { JpgError } from "../../core/errors.ts";
import {
  cheapModel,
  formatModelName,
  type ModelName,
  parseModelName,
  usualModel,
} from "../../core/model/model-name.ts";
import { MODEL_PROVIDERS, type ModelProvider } from "../../core/model/model-provider.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { configuredProviders, connectionTo, isConfigured, isReady, keySetting } from "./model-connection.ts";
import { refreshModelList } from "./model-list-cache.ts";
import { cachedList } from "./models.ts";
import { keyHolders } from "./only-key.ts";

/** From what the model of a conversation is chosen. */
export interface ModelChoice {
  readonly config: Config;
  /** `--model`. */
  readonly flag?: string;
  /** As `conversationModel` gives it; counts only where the user named its provider. */
  readonly conversationModel?: string | null;
}

/**
 * Chooses the model that answers: the flag's, else the settings', else the one that answered last, where the user named its
 * provider. Whether it can be asked is `openModel`'s to say. Gives the name in full. Throws `no_model`, `model_not_named`,
 * `bad_model_name`, `unknown_provider`.
 */
export async function chooseModel(workspace: Workspace, choice: ModelChoice): Promise<string> {
  const { config, flag, conversationModel: last = null } = choice;
  const named = [flag, config.conversation.model].find((candidate) => candidate !== undefined && candidate !== "");
  if (named !== undefined) return formatModelName(parseModelName(named, configuredProviders(config)));
  if (last === null) throw noModel(workspace, config);
  if (isNamed(config, last)) return formatModelName(parseModelName(last, configuredProviders(config)));
  throw notNamed(workspace, config, last);
}

function isNamed(config: Config, model: string): boolean {
  const provider = namedProviderOf(model, config);
  return provider !== null && namedProviders(config).has(provider);
}

function noModel(workspace: Workspace, config: Config): JpgError {
  const keyed = keyHints(workspace, config);
  return new JpgError(
    "config",
    "no_model",
    "There is no model to ask: none is named by --model, by conversation.model in your settings, or by this conversation.",
    {
      hints:
        keyed.length > 0
          ? keyed
          : [
              "Name one, for example: --model anthropic/claude-sonnet",
              "No provider has a key yet: set ANTHROPIC_API_KEY, OPENAI_API_KEY or the like.",
            ],
    },
  );
}

/** What to type for each provider that has a key. */
function keyHints(workspace: Workspace, config: Config): readonly string[] {
  return keyHolders(workspace, config).map(({ provider, setting }) => {
    const model = usualModel(provider);
    return `${setting} is set, but a key alone names no model; name one of ${provider} once: --model ${model === null ? `${provider}/…` : formatModelName({ provider, model })}`;
  });
}

/** The conversation came from somewhere: whom it is sent to is for the user to say. */
function notNamed(workspace: Workspace, config: Config, last: string): JpgError {
  return new JpgError(
    "config",
    "model_not_named",
    `${last} answered last in this conversation, but you have not named it yourself, here or in your settings. Nothing was sent.`,
    {
      hints: [
        `Name it once, and this conversation keeps it: --model ${shellWord(last)}`,
        ...keyHints(workspace, config),
        "Or set conversation.model in your own settings (`jpg config --show-origin` names the file).",
      ],
      data: { model: last },
    },
  );
}

/** From what the model of a summary is chosen. */
export interface SummaryModelChoice extends ModelChoice {
  /** `summary.model` of the profile. */
  readonly profileModel?: string;
  /** The model that this call talks to. */
  readonly answering?: string;
  /** The model of the chat in which the user asks for the summary: writes it itself, where none is named. */
  readonly chatModel?: string;
}

/**
 * Chooses the model that writes a summary: the one that the flag, the profile or `compaction.model` names, whether it can be
 * asked or not; else the first that can be: the model of the chat that asks for it, the cheap model of the provider that this call talks to, of the conversation's
 * provider where the user named it, of the provider of `conversation.model`, of a provider whose key stands in the settings,
 * the first model of a local server that the settings name. Without any: `extractive`. Gives the name in full. Throws
 * `bad_model_name`, `unknown_provider` for a named one.
 */
export async function chooseSummaryModel(workspace: Workspace, choice: SummaryModelChoice): Promise<string> {
  const { config, answering, chatModel, conversationModel: last = null } = choice;
  const named = namedSummaryModel(choice);
  if (named === EXTRACTIVE) return EXTRACTIVE;
  if (named !== undefined) return formatModelName(parseModelName(named, configuredProviders(config)));
  const own = chatModel === undefined ? null : readyName(workspace, config, chatModel);
  if (own !== null) return formatModelName(own);
  const known = last !== null && isNamed(config, last) ? last : undefined;
  for (const name of [answering, known, config.conversation.model]) {
    const found = name === undefined || name === "" ? null : readyName(workspace, config, name);
    if (found !== null) return formatModelName(await cheapOf(workspace, config, found));
  }
  for (const provider of MODEL_PROVIDERS.filter((candidate) => isConfigured(config, candidate))) {
    const model = await modelOfSettings(workspace, config, provider).catch(unlessRefused);
    if (model !== null) return formatModelName({ provider: provider.name, model });
  }
  return EXTRACTIVE;
}

function namedSummaryModel({ config, flag, profileModel }: SummaryModelChoice): string | undefined {
  return [flag, profileModel, config.conversation.compaction.model].find((name) => name !== undefined && name !== "");
}

/** A model that could be asked for a summary if the user named it. */
export interface UnnamedModel {
  /** `provider/model`, in full. */
  readonly name: string;
  /** Where the key of its provider is: a variable, or a setting; null where it needs none. */
  readonly setting: string | null;
}

/**
 * Lists the models that would write a summary which is an extract, if the user named one: of the conversation's provider, then
 * of each that has a key. A key alone names nobody (decision 019). Empty where a model, or an extract, was asked for.
 */
export async function unnamedSummaryModels(
  workspace: Workspace,
  choice: SummaryModelChoice,
): Promise<readonly UnnamedModel[]> {
  const { config, conversationModel: last = null } = choice;
  if (namedSummaryModel(choice) !== undefined) return [];
  const found = last === null || isNamed(config, last) ? null : readyName(workspace, config, last);
  const others = keyHolders(workspace, config).filter(({ provider }) => provider !== found?.provider);
  const own = found === null ? [] : [await cheapOf(workspace, config, found)];
  const cheap = others.map(async ({ provider }): Promise<readonly ModelName[]> => {
    const model = cheapModel(provider, (await cachedList(workspace, config, provider)) ?? []) ?? usualModel(provider);
    return model === null ? [] : [{ provider, model }];
  });
  return [...own, ...(await Promise.all(cheap)).flat()].map((name) => ({
    name: formatModelName(name),
    setting: keySetting(workspace.runtime.env, config, name.provider),
  }));
}

/** Says why those models were not asked, as the end of a sentence. */
export function whyUnnamed(models: readonly UnnamedModel[]): string {
  const settings = models.flatMap(({ setting }) => setting ?? []);
  if (settings.length === 0) return "neither this call nor your settings name a model";
  return `${joinWords(settings)} ${settings.length === 1 ? "is" : "are"} set, but a key alone names no model`;
}

/** Says how one of those models is named; `command` = what `--model` goes with. */
export function nameOnce(models: readonly UnnamedModel[], command: string): string {
  const typed = models.map(({ name }) => `\`${`${command} --model`.trim()} ${shellWord(name)}\``);
  return `name one once: ${typed.join(" or ")}`;
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** A name whose provider can be asked; null for any other, also one that a newer jpg or another program wrote. */
function readyName({ runtime }: Workspace, config: Config, name: string): ModelName | null {
  try {
    const found = parseModelName(name, configuredProviders(config));
    return isReady(runtime.env, config, found.provider) ? found : null;
  } catch (error) {
    return unlessRefused(error);
  }
}

/** The cheap model of the same provider; a server of the user's own has only what it runs. */
async function cheapOf(workspace: Workspace, config: Config, name: ModelName): Promise<ModelName> {
  const listed = (await cachedList(workspace, config, name.provider)) ?? [];
  return { provider: name.provider, model: cheapModel(name.provider, listed) ?? name.model };
}

/** The cheap model of a provider that the settings give a key for; of a local server the first that it lists. */
async function modelOfSettings(
  workspace: Workspace,
  config: Config,
  { name: provider, isLocal }: ModelProvider,
): Promise<string | null> {
  if (!isLocal) return cheapModel(provider, (await cachedList(workspace, config, provider)) ?? []);
  const connection = await connectionTo(workspace, config, { provider, model: "" });
  const listed = await refreshModelList(workspace.runtime, connection);
  return listed?.[0]?.name ?? null;
}

/** A provider that nobody named and that cannot be asked is passed over; naming it tells why. */
function unlessRefused(error: unknown): null {
  if (error instanceof JpgError) return null;
  throw error;
}
