import { CHECK_FAILED } from "../command-line/exit-code.ts";
import type { Run } from "../command-line/command.ts";
import { checkDatabase } from "../doctor/database.ts";
import type { Finding } from "../doctor/finding.ts";
import { checkHub, checkPort } from "../doctor/hub.ts";
import { checkFolder, checkNode, checkSecrets } from "../doctor/machine.ts";
import type { Settings } from "../settings/settings.ts";
import { flagOf, SETTING_NAMES, SETTINGS } from "../settings/table.ts";
import type { SettingName } from "../settings/table.ts";
import { columns, pairs } from "../terminal/columns.ts";
import type { Style } from "../terminal/style.ts";
import { padded, printable, widthOf } from "../terminal/text.ts";

export const run: Run = async (context) => {
  const { settings, terminal } = context;
  terminal.status("looking");
  const hub = await checkHub(context);
  const findings: Finding[] = [
    checkNode(),
    checkFolder(settings),
    checkSecrets(settings),
    await checkDatabase(settings),
    ...hub,
    await checkPort(settings, hub[0]!.verdict === "ok"),
  ];
  const isWell = findings.every(({ verdict }) => verdict !== "wrong");
  const values = SETTING_NAMES.map((name) => {
    const { source, name: from } = settings.origins[name];
    return { name, value: shownValue(name, settings), source, from };
  });
  await terminal.answer(
    { is_well: isWell, findings, file: settings.file ?? null, settings: values },
    (style) =>
      [
        ...findings.map((each) => findingText(each, style)),
        "",
        settingsText(settings, style, terminal.width),
        "",
        verdictText(findings, style),
      ].join("\n"),
  );
  return isWell ? 0 : CHECK_FAILED;
};

const SIGNS = { ok: "✔", warning: "!", wrong: "✗", skipped: "·" } as const;
const NAME_WIDTH = 9;

function findingText({ name, verdict, says, todo }: Finding, style: Style): string {
  const tone = { ok: style.good, warning: style.warning, wrong: style.bad, skipped: style.faint }[
    verdict
  ];
  const text = verdict === "skipped" ? style.faint(printable(says, 400)) : printable(says, 400);
  const line = `${tone(SIGNS[verdict])} ${style.strong(padded(name, NAME_WIDTH))} ${text}`;
  return todo === undefined ? line : `${line}\n${" ".repeat(NAME_WIDTH + 3)}${tone("→")} ${todo}`;
}

function settingsText(settings: Settings, style: Style, width: number): string {
  const isSet = (name: SettingName) => shownValue(name, settings) !== null;
  const rows = SETTING_NAMES.filter(isSet).map((name) => {
    const { source, name: from } = settings.origins[name];
    const where =
      source === "default"
        ? style.faint(`default${from === "" ? "" : `: ${from}`}`)
        : `${style.name(source)} ${from}`;
    return [flagOf(name), String(shownValue(name, settings)), where] as const;
  });
  const unset = SETTING_NAMES.filter((name) => !isSet(name)).map(flagOf);
  const table = columns(["SETTING", "VALUE", "FROM"], rows, style.faint, Infinity);
  const isWide = table.split("\n").every((line) => widthOf(line) <= width);
  const values = rows.map(([name, value, where]) => [name, `${value} (${where})`] as const);
  const text = isWide ? table : pairs(values, style.faint);
  return `${text}\n\n${style.faint(`Not set: ${unset.join(", ")}`)}`;
}

/** Only the length of a secret is shown. */
function shownValue(name: SettingName, { values }: Settings): string | number | boolean | null {
  const value = values[name];
  if (value === undefined) return null;
  if (SETTINGS[name].isSecret === true) return `set, ${String(value).length} characters`;
  return typeof value === "object" ? value.join(",") || null : value;
}

function verdictText(findings: readonly Finding[], style: Style): string {
  const count = findings.filter(({ verdict }) => verdict === "wrong").length;
  if (count > 0)
    return `${style.bad("✗")} ${style.strong(count === 1 ? "One problem." : `${count} problems.`)} Each → says what to do.`;
  const isWarned = findings.some(({ verdict }) => verdict === "warning");
  return isWarned
    ? `${style.warning("!")} No problems, but see the warnings marked with !.`
    : `${style.good("✔")} All is well.`;
}
