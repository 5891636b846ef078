// Chooses the model to ask. Text is sent only to a provider that the user's own settings, a flag of this call or a trusted project
// names (docs/decisions/models.md): a conversation's last model, a key or address in the environment only chooses among those. A model
// that somebody named is never replaced by another; without any, a summary is an extract that no model writes.
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
import type { ConversationStore } from "../../store/store.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { loadTurns } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { configuredProviders, connectionTo, isConfigured, isReady, keySetting } from "./model-connection.ts";
import { cachedList, conversationModel, refreshModelList } from "./models.ts";

/** What the model of a conversation is chosen from. */
interface ModelChoice {
  readonly config: Config;
  /** `--model`. */
  readonly flag?: string;
  /** From `conversationModel`; used only if the user named its provider. */
  readonly conversationModel?: string | null;
}

/**
 * Chooses the model that answers: the flag's, else the settings', else the one that answered last, if the user named its provider.
 * Whether it can be asked is for `openModel` to find out. Returns the full name. Throws `no_model`, `model_not_named`,
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

/** What to type for each provider with a key. */
function keyHints(workspace: Workspace, config: Config): readonly string[] {
  return keyHolders(workspace, config).map(({ provider, setting }) => {
    const model = usualModel(provider);
    return `${setting} is set, but a key alone names no model; name one of ${provider} once: --model ${model === null ? `${provider}/…` : formatModelName({ provider, model })}`;
  });
}

/** The error of a conversation from elsewhere: the user has to say to whom it is sent. */
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

/** What the model of a summary is chosen from. */
export interface SummaryModelChoice extends ModelChoice {
  /** `summary.model` of the profile. */
  readonly profileModel?: string;
  /** The model that this call talks to. */
  readonly answering?: string;
  /** The model of the chat in which the user asks for the summary; it writes the summary if no other is named. */
  readonly chatModel?: string;
}

/**
 * Chooses the model that writes a summary: the one that the flag, the profile or `compaction.model` names, even if it cannot be
 * asked. Else the first that can be: the model of the chat that asks; the cheap model of the provider that this call talks to, of
 * the conversation's provider if the user named it, of the provider of `conversation.model`, of a provider with a key in the
 * settings; the first model of a local server in the settings. Else `extractive`. Returns the full name. Throws `bad_model_name`,
 * `unknown_provider` for a named one.
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

/** A model that could write a summary if the user named it. */
export interface UnnamedModel {
  /** `provider/model`, in full. */
  readonly name: string;
  /** What has its provider's key: a variable, or a setting; null where it needs none. */
  readonly setting: string | null;
}

/**
 * Lists the models that would write a summary, instead of an extract, if the user named one: of the conversation's provider, then
 * of each with a key. A key alone is not enough (docs/decisions/models.md). Empty if a model, or an extract, was asked for.
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

/** Why those models were not asked, as the end of a sentence. */
export function whyUnnamed(models: readonly UnnamedModel[]): string {
  const settings = models.flatMap(({ setting }) => setting ?? []);
  if (settings.length === 0) return "neither this call nor your settings name a model";
  return `${joinWords(settings)} ${settings.length === 1 ? "is" : "are"} set, but a key alone names no model`;
}

/** How to name one of those models; `command` = the command that gets `--model`. */
export function nameOnce(models: readonly UnnamedModel[], command: string): string {
  const typed = models.map(({ name }) => `\`${`${command} --model`.trim()} ${shellWord(name)}\``);
  return `name one once: ${typed.join(" or ")}`;
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** A name whose provider can be asked; null for any other, even if a newer jpg or another program wrote it. */
function readyName({ runtime }: Workspace, config: Config, name: string): ModelName | null {
  try {
    const found = parseModelName(name, configuredProviders(config));
    return isReady(runtime.env, config, found.provider) ? found : null;
  } catch (error) {
    return unlessRefused(error);
  }
}

/** The cheap model of the same provider; for the user's own server, the given one. */
async function cheapOf(workspace: Workspace, config: Config, name: ModelName): Promise<ModelName> {
  const listed = (await cachedList(workspace, config, name.provider)) ?? [];
  return { provider: name.provider, model: cheapModel(name.provider, listed) ?? name.model };
}

/** The cheap model of a provider with a key in the settings; for a local server the first that it lists. */
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

/** Null for errors of a provider that nobody named and that cannot be asked; naming it reports them. */
function unlessRefused(error: unknown): null {
  if (error instanceof JpgError) return null;
  throw error;
}

// Assumes a model if nobody named one and only one provider has a key (docs/decisions/models.md). Only for the answer of a query or a chat,
// never for a summary. The user may be asked first; without a user to ask, nothing is assumed.

/** A provider with a key, and what has it: a variable of the environment, or a setting. */
interface KeyHolder {
  readonly provider: string;
  readonly setting: string;
}

/** Lists the providers with a key, as for errors. Runs no key command. */
function keyHolders({ runtime }: Workspace, config: Config): readonly KeyHolder[] {
  return MODEL_PROVIDERS.filter(({ needsKey }) => needsKey).flatMap(({ name: provider }) => {
    const setting = keySetting(runtime.env, config, provider);
    return setting === null ? [] : [{ provider, setting }];
  });
}

/** A model that nobody named. */
export interface AssumedModel extends KeyHolder {
  /** `provider/model`, in full. */
  readonly name: string;
  /** Whether to ask the user first, because the conversation comes from elsewhere. */
  readonly asks: boolean;
}

/**
 * The model of the only provider with a key: the one that answered last (`last`) if it is of that provider, else the provider's
 * usual one. Null if the user named the provider of `last`, or if keys and settings are of several providers, or of none.
 */
export function assumeModel(
  workspace: Workspace,
  config: Config,
  { last, isNew }: { readonly last: string | null; readonly isNew: boolean },
): AssumedModel | null {
  const from = last === null ? null : namedProviderOf(last, config);
  if (from !== null && namedProviders(config).has(from)) return null;
  const [holder, ...others] = keyHolders(workspace, config);
  if (holder === undefined || others.length > 0) return null;
  const { provider } = holder;
  if (configuredProviders(config).some((name) => name !== provider)) return null;
  if (last !== null && from === provider)
    return { ...holder, name: formatModelName(parseModelName(last, configuredProviders(config))), asks: false };
  const model = usualModel(provider);
  return model === null ? null : { ...holder, name: formatModelName({ provider, model }), asks: !isNew };
}

// Finds the model that answered last in a conversation. Usually one of the newest turns names it; older ones are read only if not,
// and no turn is read twice.

const NEWEST_TURNS = 3;
/** Factor by which each read grows, so that a long conversation takes few reads. */
const GROWTH = 8;

/** The model that answered last on a branch, of those that `counts` accepts, as `provider/model`; null when none is named. */
export async function lastModel(
  store: ConversationStore,
  tree: BranchTree,
  counts: (name: string) => boolean = () => true,
): Promise<string | null> {
  const positions = tree.turnOids.map((_, turn) => turn);
  let end = positions.length;
  for (let count = NEWEST_TURNS; end > 0; count *= GROWTH) {
    const start = Math.max(0, end - count);
    const turns = await loadTurns(store, tree, positions.slice(start, end));
    const model = conversationModel(turns.values(), counts);
    if (model !== null) return model;
    end = start;
  }
  return null;
}
