// Completion scripts for shells, made from the commands' declarations. For names of conversations the script calls jpg while
// somebody types; the shell never expands those words.
import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec } from "./command.ts";

/** The shells there are scripts for. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type CompletedShell = (typeof SHELLS)[number];

/** The hidden command that lists what a script asks for, one a line. */
export const IDS_COMMAND = "completion-ids";

/** What can follow: words, and what jpg is asked for. */
interface Offer {
  readonly words: readonly string[];
  readonly ask: NonNullable<OptionSpec["asks"]> | "ids" | null;
}

const ask = (what: string): string => `jpg ${IDS_COMMAND} ${what} 2>/dev/null`;
/** Global options with a value, which must not be read as a command. */
const WITH_VALUE = GLOBAL_OPTIONS.filter(takesValue).flatMap(namesOf);

/** Renders the script of a shell, which it reads as it starts. */
export function renderCompletion(shell: CompletedShell, commands: readonly CommandSpec[]): string {
  switch (shell) {
    case "bash":
      return renderBash(commands);
    case "zsh":
      return renderZsh(commands);
    case "fish":
      return renderFish(commands);
    case "powershell":
      return renderPowerShell(commands);
  }
}

/** The scripts with which a shell's own completion of git finds that of `git jpg`. Each is read beside the script of jpg. */
export const GIT_SCRIPTS: Readonly<Record<Exclude<CompletedShell, "powershell">, string>> = {
  bash: `# bash completion of git jpg\nsource "\${BASH_SOURCE[0]%/*}/jpg"\n`,
  zsh: '#compdef git-jpg\n# zsh completion of git jpg\n_jpg "$@"\n',
  fish: "# fish completion of git jpg\ncomplete -c git-jpg -w jpg\n",
};

function renderBash(commands: readonly CommandSpec[]): string {
  const assigned = ({ words, ask: asked }: Offer, [values, asks]: readonly [string, string]): string =>
    [
      ...(words.length > 0 ? [`${values}=${quote(words.join(" "))}`] : []),
      ...(asked === null ? [] : [`${asks}=${asked}`]),
    ].join(" ");
  const cases = commands.map(
    (command) =>
      `    ${command.name}) options=${quote(optionsOf(command).flatMap(namesOf).join(" "))} ${assigned(firstOf(command), ["words", "asked"])}`.trimEnd() +
      " ;;",
  );
  return `# bash completion of jpg: eval "$(jpg completion bash)"
_jpg() {
  local current=\${COMP_WORDS[COMP_CWORD]} command= options= words= asked= values= ask= i word
  local before=\${COMP_WORDS[COMP_CWORD-1]}
  # bash splits words at =
  [[ $current == = ]] && current=
  [[ $before == = ]] && before=\${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${WITH_VALUE.join(" | ")}) ((i++)) ;;
      conversation | c | -*) ;;
      *) command=\${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command in
${cases.join("\n")}
  esac
  case "$command $before" in
${valueCases(commands, (offer) => assigned(offer, ["values", "ask"]))}
  esac
  if [[ -n $values$ask ]]; then :
  elif [[ $current == -* ]]; then values=$options
  elif [[ -z $command ]]; then values=${quote(commands.map(({ name }) => name).join(" "))}
  else values=$words ask=$asked
  fi
  COMPREPLY=($(compgen -W "$values" -- "$current"))
  if [[ -n $ask ]]; then
    while IFS= read -r word; do
      [[ $word == "$current"* ]] && COMPREPLY+=("$word")
    done < <(${ask("$ask")})
  fi
}
complete -o default -F _jpg jpg

# git calls this for \`git jpg\`
_git_jpg() {
  local at=1 end=$COMP_CWORD
  while ((at < end)) && [[ \${COMP_WORDS[at]} != jpg ]]; do ((at++)); done
  local -a words=("\${COMP_WORDS[@]:at}")
  local -a COMP_WORDS=("\${words[@]}")
  local COMP_CWORD=$((end - at))
  _jpg
}
`;
}

function renderZsh(commands: readonly CommandSpec[]): string {
  const described = (name: string, text: string): string => quote(`${name}:${text}`);
  const assigned = ({ words, ask: asked }: Offer, [values, asks]: readonly [string, string]): string =>
    [
      ...(words.length > 0 ? [`${values}=(${words.map(quote).join(" ")})`] : []),
      ...(asked === null ? [] : [`${asks}=${asked}`]),
    ].join(" ");
  const cases = commands.map((command) => {
    const options = optionsOf(command).flatMap((option) =>
      namesOf(option).map((name) => described(name, option.description)),
    );
    return (
      `    ${command.name}) options=(${options.join(" ")}) ${assigned(firstOf(command), ["first", "asked"])}`.trimEnd() +
      " ;;"
    );
  });
  return `#compdef jpg
# zsh completion of jpg: eval "$(jpg completion zsh)" after compinit
_jpg() {
  local command= asked= ask= before=$words[CURRENT-1] i
  local -a options commands first values
  for ((i = 2; i < CURRENT; i++)); do
    case $words[i] in
      ${WITH_VALUE.join("|")}) ((i++)) ;;
      conversation|c|-*) ;;
      *) command=$words[i]; break ;;
    esac
  done
  commands=(${commands.map(({ name, summary }) => described(name, summary)).join(" ")})
  case $command in
${cases.join("\n")}
  esac
  case "$command $before" in
${valueCases(commands, (offer) => assigned(offer, ["values", "ask"]))}
  esac
  if (( $#values )) || [[ -n $ask ]]; then
    [[ -n $ask ]] && values+=("\${(@f)$(${ask("$ask")})}")
    compadd -a values
  elif [[ $words[CURRENT] == -* ]]; then
    _describe -o option options
  elif [[ -z $command ]]; then
    _describe command commands
  else
    [[ -n $asked ]] && first+=("\${(@f)$(${ask("$asked")})}")
    (( $#first )) && compadd -a first
    _files
  fi
}
_git-jpg() { _jpg "$@" }
# a file of fpath is the function's body when it is first called
if [[ $funcstack[1] == _jpg ]]; then _jpg "$@"; else compdef _jpg jpg; fi
`;
}

function renderFish(commands: readonly CommandSpec[]): string {
  const lines = commands.flatMap((command) => {
    const seen = `-n ${quote(`__fish_seen_subcommand_from ${command.name}`)}`;
    return [
      `complete -c jpg -n __fish_use_subcommand -f -a ${command.name} -d ${quote(command.summary)}`,
      ...optionsOf(command).map((option) => `complete -c jpg ${seen} ${fishFlags(option)}`),
      ...fishWords(firstOf(command)).map((words) => `complete -c jpg ${seen} -a ${words}`),
    ];
  });
  return `# fish completion of jpg: jpg completion fish > ~/.config/fish/completions/jpg.fish\n${lines.join("\n")}\ncomplete -c git-jpg -w jpg\n`;
}

function renderPowerShell(commands: readonly CommandSpec[]): string {
  const list = (words: readonly string[]): string => `@(${words.map(quote).join(", ")})`;
  const options = commands.map(
    (command) => `    ${quote(command.name)} = ${list(optionsOf(command).flatMap(namesOf))}`,
  );
  const offeredBy = ({ words, ask: asked }: Offer): string | null => {
    const asking = asked === null ? [] : [`@(jpg ${IDS_COMMAND} ${asked} 2>$null)`];
    return [...(words.length > 0 ? [list(words)] : []), ...asking].join(" + ") || null;
  };
  const values = commands.flatMap((command) =>
    optionsOf(command).flatMap((option) => {
      const offered = offeredBy(valuesOf(option));
      return offered === null ? [] : namesOf(option).map((name) => `    '${command.name} ${name}' { ${offered} }`);
    }),
  );
  const first = commands.flatMap((command) => {
    const offered = offeredBy(firstOf(command));
    return offered === null ? [] : [`      ${quote(command.name)} { ${offered} }`];
  });
  return `# powershell completion of jpg: jpg completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName jpg -ScriptBlock {
  param($word, $ast, $cursor)
  $options = [ordered]@{
${options.join("\n")}
  }
  $before = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | Select-Object -Skip 1 | ForEach-Object { "$_" })
  $command = ''
  for ($i = 0; $i -lt $before.Count; $i++) {
    if (${list(WITH_VALUE)} -ccontains $before[$i]) { $i++ }
    elseif (@('conversation', 'c') -cnotcontains $before[$i] -and -not $before[$i].StartsWith('-')) { $command = $before[$i]; break }
  }
  $values = switch -CaseSensitive ("$command $(if ($before.Count) { $before[-1] })") {
${values.join("\n")}
  }
  $found = if ($values) { $values }
    elseif (-not $command) { $options.Keys }
    elseif ($word.StartsWith('-')) { $options[$command] }
    else { switch -CaseSensitive ($command) {
${first.join("\n")}
    } }
  $found | Where-Object { $_.StartsWith($word) } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`;
}

function fishFlags(option: OptionSpec): string {
  const flags = namesOf(option).map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const [words] = fishWords(valuesOf(option));
  const values = words === undefined ? (takesValue(option) ? " -r" : "") : ` -x -a ${words}`;
  return `${flags.join(" ")}${values} -d ${quote(option.description)}`;
}

/** The words of an offer, in quotes; empty = there are none. */
function fishWords({ words, ask: asked }: Offer): readonly string[] {
  const all = [...words, ...(asked === null ? [] : [`(${ask(asked)})`])];
  return all.length === 0 ? [] : [quote(all.join(" "))];
}

/** What can be given as the value of an option; nothing = anything. */
function valuesOf({ choices, values, asks }: OptionSpec): Offer {
  return { words: choices ?? values ?? [], ask: asks ?? null };
}

/** What an argument can be. */
function firstOf({ arguments: [first] = [] }: CommandSpec): Offer {
  const isId = /^\[?id/.test(first?.name.replace("<", "[") ?? "");
  return { words: first?.values ?? [], ask: isId ? "ids" : (first?.asks ?? null) };
}

/** The lines of a `case "$command $before"` that say what follows an option. */
function valueCases(commands: readonly CommandSpec[], render: (values: Offer) => string): string {
  const lines = commands.flatMap((command) =>
    optionsOf(command).flatMap((option) => {
      const values = valuesOf(option);
      const names = namesOf(option).map((name) => `"${command.name} ${name}"`);
      return values.words.length === 0 && values.ask === null ? [] : [`    ${names.join(" | ")}) ${render(values)} ;;`];
    }),
  );
  return lines.join("\n");
}

function optionsOf({ options = [], passThrough }: CommandSpec): readonly OptionSpec[] {
  return passThrough === true ? [] : [...options.filter(({ listed }) => listed !== "never"), ...GLOBAL_OPTIONS];
}

/** \`-a\`, \`--all\` of \`-a, --all <name>\`. */
function namesOf({ flags }: OptionSpec): readonly string[] {
  return flags.match(/(?<![\w-])--?[a-z][\w-]*/gi) ?? [];
}

function takesValue({ flags }: OptionSpec): boolean {
  return flags.includes("<");
}

/** Quotes for all shells; jpg's own texts have no backslash. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
