import { LIVE_COMMAND } from "./shells.ts";
import { fixedWords, liveKind, takesAgent, takesFile } from "./words.ts";
import type { OptionSpec } from "../command-line/command.ts";
import type { Place } from "./words.ts";

export function bashCompletion(places: readonly Place[]): string {
  const rows = places.map(({ path, next, options, argument }) => {
    const words = [...next.map(([word]) => word), ...fixedWords(argument)];
    const flags = options.map(({ name }) => `--${name}`);
    const files = options.filter(takesFile).map(({ name }) => `--${name}`);
    const values = options
      .filter((each) => each.value !== undefined && !takesFile(each))
      .map(({ name }) => `--${name}`);
    return `    "${path}") words="${words.join(" ")}" flags="${flags.join(" ")}" files="${files.join(" ")}" values="${values.join(" ")}" agents="${names(options.filter(takesAgent))}" file="${argument?.completes === "file" ? "yes" : ""}" live="${liveKind(argument) ?? ""}" ;;`;
  });
  const paths = places.map(({ path }) => `"${path}"`).join(" | ");
  return `# bash completion for waybill. To have it always:
#   waybill completion bash > ~/.local/share/bash-completion/completions/waybill
_waybill() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local path="" word words flags files values agents file live
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
    ${paths}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${rows.join("\n")}
  esac
  COMPREPLY=()
  if [[ " $files " == *" $previous "* ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  elif [[ " $agents " == *" $previous "* ]]; then
    _waybill_live agents
  elif [[ " $values " == *" $previous "* ]]; then
    return
  elif [[ "$current" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$current")
  elif [[ -n "$file" ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    if [[ -n "$live" ]]; then _waybill_live "$live"; fi
  fi
}
# What the hub knows by name. It is compared as text and never expanded.
_waybill_live() {
  local each
  while IFS= read -r each; do
    if [[ "$each" == "$current"* ]]; then COMPREPLY+=("$(printf %q "$each")"); fi
  done < <(command waybill ${LIVE_COMMAND} "$1" "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
}
complete -F _waybill waybill
`;
}

function names(options: readonly OptionSpec[]): string {
  return options.map(({ name }) => `--${name}`).join(" ");
}
