import { LIVE_COMMAND } from "./shells.ts";
import { fixedWords, liveKind, takesAgent, takesFile } from "./words.ts";
import type { Place } from "./words.ts";

export function zshCompletion(places: readonly Place[]): string {
  const rows = places.map(({ path, next, options, argument }) => {
    const fixed = fixedWords(argument);
    const words =
      fixed.length === 0
        ? next.map(([word, says]) => quoted(`${word}:${says}`))
        : fixed.map((word) => quoted(`${word}:${argument!.says}`));
    const flags = options.map(({ name, says }) => quoted(`--${name}:${says}`));
    const valued = options.filter(({ value }) => value !== undefined);
    const names = (all: typeof options) => all.map(({ name }) => `--${name}`).join(" ");
    return `    (${quoted(path)}) words=(${words.join(" ")}) flags=(${flags.join(" ")}) files=(${names(valued.filter(takesFile))}) values=(${names(valued.filter((each) => !takesFile(each)))}) agents=(${names(valued.filter(takesAgent))}) file=${argument?.completes === "file" ? "yes" : '""'} live="${liveKind(argument) ?? ""}" ;;`;
  });
  const paths = places
    .filter(({ path }) => path !== "")
    .map(({ path }) => quoted(path))
    .join(" ");
  return `#compdef waybill
# zsh completion for waybill. To have it always, in a folder of $fpath:
#   waybill completion zsh > "\${fpath[1]}/_waybill"
_waybill() {
  local name="" word file="" live=""
  local -a known words flags files values agents
  known=(${paths})
  for word in "\${(@)argv_words}"; do
    if (( \${known[(Ie)\${name:+$name }$word]} )); then name="\${name:+$name }$word"; fi
  done
  case "$name" in
${rows.join("\n")}
  esac
  local previous="\${\${(@)waybill_line}[CURRENT-1]}" current="\${\${(@)waybill_line}[CURRENT]}"
  if (( \${files[(Ie)$previous]} )); then _files
  elif (( \${agents[(Ie)$previous]} )); then _waybill_live agents
  elif (( \${values[(Ie)$previous]} )); then _message 'a value'
  elif [[ "$current" == -* ]]; then _describe -o 'option' flags
  elif [[ -n "$file" ]]; then _files
  else
    if (( \${#words} )); then _describe 'command' words; fi
    if [[ -n "$live" ]]; then _waybill_live "$live"; fi
  fi
}
# What the hub knows by name. compadd quotes it; nothing expands it.
_waybill_live() {
  local -a found
  found=("\${(@f)$(command waybill ${LIVE_COMMAND} "$1" "\${(@)argv_words}" 2>/dev/null)}")
  found=("\${(@)found:#}")
  if (( \${#found} )); then compadd -- "\${(@)found}"; fi
}
_waybill_entry() {
  local -a waybill_line argv_words
  waybill_line=("\${(@)words}")
  argv_words=("\${(@)words[2,CURRENT-1]}")
  _waybill "$@"
}
if [ "$funcstack[1]" = "_waybill" ]; then _waybill_entry "$@"; else compdef _waybill_entry waybill; fi
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
