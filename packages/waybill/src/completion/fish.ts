import { LIVE_COMMAND } from "./shells.ts";
import { fixedWords, liveKind, takesAgent, takesFile } from "./words.ts";
import type { Place } from "./words.ts";

export function fishCompletion(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, next, options, argument }) => {
    const at = `-n ${quoted(`__waybill_at ${quoted(path)}`)}`;
    const fixed = fixedWords(argument);
    const words = fixed.length === 0 ? next : fixed.map((word) => [word, argument!.says] as const);
    const live = liveKind(argument);
    return [
      ...words.map(([word, says]) => `complete -c waybill ${at} -a ${word} -d ${quoted(says)}`),
      ...(argument?.completes === "file" ? [`complete -c waybill ${at} -F`] : []),
      ...(live === undefined ? [] : [`complete -c waybill ${at} -a ${quoted(liveWords(live))}`]),
      ...options.map((option) => {
        const { name, value, says } = option;
        const takes =
          value === undefined
            ? ""
            : takesFile(option)
              ? " -r -F"
              : takesAgent(option)
                ? ` -x -a ${quoted(liveWords("agents"))}`
                : " -x";
        return `complete -c waybill ${at} -l ${name}${takes} -d ${quoted(says)}`;
      }),
    ];
  });
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  return `# fish completion for waybill. To have it always:
#   waybill completion fish > ~/.config/fish/completions/waybill.fish
function __waybill_path
  set -l path ""
  for word in (commandline -opc)[2..]
    set -l longer (string trim -- "$path $word")
    if contains -- "$longer" ${paths.join(" ")}
      set path "$longer"
    end
  end
  echo -- "$path"
end
function __waybill_at
  test (string join ' ' -- (__waybill_path)) = "$argv[1]"
end
complete -c waybill -f
${lines.join("\n")}
`;
}

/** The names that the hub knows, which fish reads as plain text. */
function liveWords(kind: string): string {
  return `(type -q waybill; and command waybill ${LIVE_COMMAND} ${kind} (commandline -opc)[2..] 2>/dev/null)`;
}

/** Inside single quotes, fish treats a backslash specially only before a quote or another backslash. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
