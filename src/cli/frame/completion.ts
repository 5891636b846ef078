// Completion scripts for shells, made from the commands' declarations. For names of conversations the script calls jpg while
// somebody types; the shell never expands those words.
import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec } from "./command.ts";

/** The shells there are scripts for. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type CompletedShell = (typeof SHELLS)[number];

/** The hidden command that lists possible IDs, or with `profiles` the names of profiles, one a line. */
export const IDS_COMMAND = "completion-ids";

const ASK_IDS = `jpg ${IDS_COMMAND} 2>/dev/null`;
const ASK_PROFILES = `jpg ${IDS_COMMAND} profiles 2>/dev/null`;
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
  const cases = commands.map(
    (command) =>
      `    ${command.name}) options=${quote(optionsOf(command).flatMap(namesOf).join(" "))}${takesId(command) ? " ids=1" : ""} ;;`,
  );
  return `# bash completion of jpg: eval "$(jpg completion bash)"
_jpg() {
  local current=\${COMP_WORDS[COMP_CWORD]} command= options= ids= ask= values= i word
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
${valueCases(commands, (asked) => (asked === "profiles" ? "ask=profiles" : `values=${quote(asked.join(" "))}`))}
  esac
  COMPREPLY=()
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $ask == profiles ]]; then
    while IFS= read -r word; do
      [[ $word == "$current"* ]] && COMPREPLY+=("$word")
    done < <(${ASK_PROFILES})
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -z $command ]]; then
    COMPREPLY=($(compgen -W ${quote(commands.map(({ name }) => name).join(" "))} -- "$current"))
  elif [[ -n $ids ]]; then
    while IFS= read -r word; do
      [[ $word == "$current"* ]] && COMPREPLY+=("$word")
    done < <(${ASK_IDS})
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
  const cases = commands.map((command) => {
    const options = optionsOf(command).flatMap((option) =>
      namesOf(option).map((name) => described(name, option.description)),
    );
    return `    ${command.name}) options=(${options.join(" ")})${takesId(command) ? " ids=1" : ""} ;;`;
  });
  return `#compdef jpg
# zsh completion of jpg: eval "$(jpg completion zsh)" after compinit
_jpg() {
  local command= ids= before=$words[CURRENT-1] i
  local -a options commands found values
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
${valueCases(commands, (asked) => (asked === "profiles" ? `values=("\${(@f)$(${ASK_PROFILES})}")` : `values=(${asked.map(quote).join(" ")})`))}
  esac
  if (( $#values )); then
    compadd -a values
  elif [[ $words[CURRENT] == -* ]]; then
    _describe -o option options
  elif [[ -z $command ]]; then
    _describe command commands
  else
    if [[ -n $ids ]]; then
      found=("\${(@f)$(${ASK_IDS})}")
      compadd -a found
    fi
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
      ...(takesId(command) ? [`complete -c jpg ${seen} -a ${quote(`(${ASK_IDS})`)}`] : []),
    ];
  });
  return `# fish completion of jpg: jpg completion fish > ~/.config/fish/completions/jpg.fish\n${lines.join("\n")}\ncomplete -c git-jpg -w jpg\n`;
}

function renderPowerShell(commands: readonly CommandSpec[]): string {
  const list = (words: readonly string[]): string => `@(${words.map(quote).join(", ")})`;
  const options = commands.map(
    (command) => `    ${quote(command.name)} = ${list(optionsOf(command).flatMap(namesOf))}`,
  );
  const values = commands.flatMap((command) =>
    optionsOf(command).flatMap((option) => {
      const asked = valuesOf(option);
      if (asked === undefined) return [];
      const offered = asked === "profiles" ? `@(jpg ${IDS_COMMAND} profiles 2>$null)` : list(asked);
      return namesOf(option).map((name) => `    '${command.name} ${name}' { ${offered} }`);
    }),
  );
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
    elseif (${list(commands.filter(takesId).map(({ name }) => name))} -ccontains $command) { jpg ${IDS_COMMAND} 2>$null }
  $found | Where-Object { $_.StartsWith($word) } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`;
}

function fishFlags(option: OptionSpec): string {
  const flags = namesOf(option).map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const asked = valuesOf(option);
  const listed = asked === "profiles" ? `(${ASK_PROFILES})` : asked?.join(" ");
  const values = listed === undefined ? "" : ` -x -a ${quote(listed)}`;
  return `${flags.join(" ")}${takesValue(option) && values === "" ? " -r" : values} -d ${quote(option.description)}`;
}

/** What can be given as the value of an option; undefined = anything. */
function valuesOf({ choices, values }: OptionSpec): OptionSpec["values"] {
  return choices ?? values;
}

/** The lines of a `case "$command $before"` that say what follows an option. */
function valueCases(
  commands: readonly CommandSpec[],
  render: (values: readonly string[] | "profiles") => string,
): string {
  const lines = commands.flatMap((command) =>
    optionsOf(command).flatMap((option) => {
      const values = valuesOf(option);
      const names = namesOf(option).map((name) => `"${command.name} ${name}"`);
      return values === undefined ? [] : [`    ${names.join(" | ")}) ${render(values)} ;;`];
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

function takesId({ arguments: all = [] }: CommandSpec): boolean {
  return /^\[?id/.test(all[0]?.name.replace("<", "[") ?? "");
}

/** Quotes for all shells; jpg's own texts have no backslash. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
