import { WaybillError } from "@waybill/protocol";
import type { RankedCandidate } from "@waybill/protocol";
import { readFound } from "@waybill/protocol/api";
import type { Run } from "../command-line/command.ts";
import { isGiven, listOf, textOf } from "../command-line/given.ts";
import { readJson } from "../files/read-text.ts";
import { hubClient } from "../hub/client.ts";
import { columns } from "../terminal/columns.ts";
import { durationText, parseDuration } from "../terminal/duration.ts";
import type { Style } from "../terminal/style.ts";
import { printable } from "../terminal/text.ts";

/** Nobody who could do it: a script can tell. */
const NOBODY = 4;
const OFFERED_BY_NOBODY = "Nobody here offers that. What is offered: waybill agents";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const capability = given.arguments["capability"];
  const words = textOf(given, "words");
  if (capability === undefined && words === undefined) {
    throw new WaybillError(
      400,
      'Name a capability, or say in plain words what is wanted: waybill find --words "read the web"',
    );
  }
  const input = textOf(given, "input");
  const within = textOf(given, "within");
  const query = {
    ...(capability !== undefined && { capability }),
    ...(input !== undefined && { input: await readJson(input, "The input") }),
    ...(isGiven(given, "version") && { version: textOf(given, "version") }),
    ...(isGiven(given, "tag") && { tags: listOf(given, "tag") }),
    ...(within !== undefined && { within: parseDuration(within, "within") / 1000 }),
    ...(isGiven(given, "min-reliability") && {
      min_reliability: shareIn(textOf(given, "min-reliability")!),
    }),
    ...(words !== undefined && { words }),
  };
  const answer = await hubClient({ settings, terminal, signal }).post(
    "/v1/capabilities/find",
    query,
  );
  const { fits, leftOut } = readFound(answer);
  await terminal.answer(answer, (style) => {
    const sections = [
      fits.length === 0
        ? `${style.bad("✗")} ${leftOut.length === 0 ? OFFERED_BY_NOBODY : "Nobody here fits."}`
        : columns(
            ["AGENT", "CAPABILITY", "COUNT ON", "LOAD", "TERMS", "WHY"],
            fits.map((each) => fitRow(each, style)),
            style.faint,
          ),
    ];
    if (leftOut.length > 0) {
      const rows = leftOut.map((each) => [
        each.agent_id,
        `${printable(each.capability)} ${style.faint(printable(each.version))}`,
        printable(each.reasons.join("; ")),
      ]);
      sections.push(
        `${style.strong("Left out")}\n${columns(["AGENT", "CAPABILITY", "WHY"], rows, style.faint, terminal.width)}`,
      );
    }
    return sections.join("\n\n");
  });
  return fits.length === 0 ? NOBODY : 0;
};

function fitRow(fit: RankedCandidate, style: Style): string[] {
  const { agent_id: agent, capability, reliability, isMeasured, isContradicted, reasons } = fit;
  const share = `${(reliability * 100).toFixed(0)} %`;
  const how =
    fit.standing === "ejected"
      ? style.bad("asked last")
      : isContradicted
        ? style.bad("claims more than it does")
        : style.faint(isMeasured ? "measured" : "newcomer");
  const terms = `${durationText(capability.timeout_seconds * 1000)}, effects ${capability.effects}`;
  return [
    style.strong(agent),
    `${printable(capability.name)} ${style.faint(printable(capability.version))}`,
    `${share.padStart(5)} ${how}`,
    loadText(fit, style),
    terms,
    style.faint(printable(reasons.join("; "))),
  ];
}

/** How many of its places are in use. */
function loadText({ inFlight = 0, credit }: RankedCandidate, style: Style): string {
  return credit === undefined ? style.faint("away") : `${inFlight} of ${inFlight + credit}`;
}

function shareIn(text: string): number {
  const share = Number(text);
  if (text.trim() !== "" && share >= 0 && share <= 1) return share;
  throw new WaybillError(
    400,
    `--min-reliability is a share from 0 to 1, and ${JSON.stringify(text)} is not.`,
  );
}
