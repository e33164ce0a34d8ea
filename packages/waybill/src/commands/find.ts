import { mergeFound, WaybillError } from "@waybill/protocol";
import type { Found, RankedCandidate } from "@waybill/protocol";
import { readFound, writeFound } from "@waybill/protocol/wire";
import type { Run } from "../command-line/command.ts";
import { countOf } from "../command-line/count.ts";
import { isGiven, listOf, textOf } from "../command-line/given.ts";
import { readJson } from "../files/read-text.ts";
import { hubClient } from "../hub/client.ts";
import type { HubClient } from "../hub/client.ts";
import { suggestion } from "../hub/known.ts";
import { columns } from "../terminal/columns.ts";
import { durationText, parseDuration } from "../terminal/duration.ts";
import type { Style } from "../terminal/style.ts";
import { fromText } from "../terminal/manifest.ts";
import { printable } from "../terminal/text.ts";

/** The exit code if no agent fits, for scripts. */
const NOBODY = 4;
/** How many offers are examined by default, and the size of a page. */
const LOOKED_AT = "1000";
const PAGE = 100;

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const capability = given.arguments["capability"];
  const words = textOf(given, "words");
  if (capability === undefined && words === undefined) {
    throw new WaybillError(
      400,
      'Name a capability, or describe what you need: waybill find --words "read the web"',
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
  const most = countOf(textOf(given, "limit") ?? LOOKED_AT, "limit");
  const hub = hubClient({ settings, terminal, signal });
  const found = await findAll(hub, query, most);
  const { fits, leftOut, next } = found;
  const isUnknown = fits.length + leftOut.length === 0 && capability !== undefined;
  const near = isUnknown ? await suggestion(hub, "capabilities", capability) : "";
  await terminal.answer(writeFound(found), (style) => {
    const sections = [
      fits.length === 0
        ? `${style.bad("✗")} ${leftOut.length === 0 ? `${offeredByNobody(capability)}${near} To see what is offered: waybill agents` : "No agent here fits."}`
        : columns(
            ["AGENT", "CAPABILITY", "COUNT ON", "LOAD", "TERMS", "WHY"],
            fits.map((each) => fitRow(each, style)),
            style.faint,
            terminal.width,
          ),
    ];
    if (leftOut.length > 0) {
      const rows = leftOut.map((each) => [
        each.agent_id,
        `${printable(each.capability)} ${style.faint(printable(each.version))}`,
        printable(each.reasons.join("; ")),
      ]);
      sections.push(
        `${style.strong("Do not fit")}\n${columns(["AGENT", "CAPABILITY", "WHY"], rows, style.faint, terminal.width)}`,
      );
    }
    if (next !== undefined) {
      const more = `Only the first ${fits.length + leftOut.length} offers were considered. To consider more: --limit <number>`;
      sections.push(style.faint(more));
    }
    return sections.join("\n\n");
  });
  return fits.length === 0 ? NOBODY : 0;
};

function offeredByNobody(capability: string | undefined): string {
  return capability === undefined
    ? "No agent here offers that."
    : `No agent here offers ${printable(capability)}.`;
}

/** Merges and ranks the offers of all pages. */
async function findAll(
  hub: HubClient,
  query: { readonly words?: string | undefined },
  most: number,
): Promise<Found> {
  const pages: Found[] = [];
  for (let looked = 0, after: string | undefined; ;) {
    const limit = Math.min(PAGE, most - looked);
    const page = readFound(await hub.post("/v1/capabilities/find", { ...query, after, limit }));
    pages.push(page);
    looked += page.fits.length + page.leftOut.length;
    if (page.next === undefined || page.next === after || looked >= most) break;
    after = page.next;
  }
  return mergeFound(pages, query.words);
}

function fitRow(fit: RankedCandidate, style: Style): string[] {
  const { agent_id: agent, capability, reliability, isMeasured, isContradicted, reasons } = fit;
  const share = `${(reliability * 100).toFixed(0)} %`;
  const how =
    fit.standing === "ejected"
      ? style.bad("asked last")
      : isContradicted
        ? style.bad("claims more than measured")
        : style.faint(isMeasured ? "measured" : "newcomer");
  const terms = `${durationText(capability.timeout_seconds * 1000)}, effects ${capability.effects}`;
  return [
    style.strong(agent),
    `${printable(capability.name)} ${style.faint(printable(capability.version))}`,
    `${share.padStart(5)} ${how}`,
    loadText(fit, style),
    terms,
    style.faint(printable([...onlyFrom(fit), ...behindOf(fit), ...reasons].join("; "))),
  ];
}

/** An operator also sees capabilities restricted to others, and may send as one of them. */
function onlyFrom({ capability: { from } }: RankedCandidate): string[] {
  return from === undefined ? [] : [`takes work only from ${fromText(from)}`];
}

/** Why it ranks below the line above. */
function behindOf({ behind }: RankedCandidate): string[] {
  return behind === undefined ? [] : [`ranked lower: ${behind}`];
}

/** How many of its slots are in use. */
function loadText({ inFlight = 0, credit }: RankedCandidate, style: Style): string {
  return credit === undefined ? style.faint("offline") : `${inFlight} of ${inFlight + credit}`;
}

function shareIn(text: string): number {
  const share = Number(text);
  if (text.trim() !== "" && share >= 0 && share <= 1) return share;
  throw new WaybillError(
    400,
    `--min-reliability must be a number from 0 to 1, such as 0.9, but it is ${JSON.stringify(text)}.`,
  );
}
