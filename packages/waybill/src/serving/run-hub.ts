/// <reference types="node" />
import { once } from "node:events";
import type { HubLogEvent } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { pairs } from "../terminal/columns.ts";
import { durationText } from "../terminal/duration.ts";
import type { Style } from "../terminal/style.ts";
import type { Context } from "../context.ts";
import { printable } from "../terminal/text.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { startHub } from "./start-hub.ts";
import type { RunningHub, StartOptions } from "./start-hub.ts";

export interface RunOptions {
  readonly mode: "dev" | "hub";
  readonly logger?: StartOptions["logger"];
  /** Receives log events that are not shown on the terminal. */
  readonly log?: StartOptions["log"];
}

/** Starts a hub, prints its addresses and paths, and shuts it down gracefully on request. */
export async function runHub(
  { settings, terminal, signal }: Context,
  options: RunOptions,
): Promise<void> {
  const startedAt = Date.now();
  const { values } = settings;
  // The hub's own first steps are not logged, because the first line should be the one with the
  // addresses.
  let isReady = false;
  const hub = await startHub(values, {
    logger: options.logger,
    warn: (path) => terminal.warn((style) => openedText(path, terminal.isJson, style)),
    withoutSocket: ({ message }) =>
      terminal.warn((style) => warningText(`No Unix socket: ${message}`, terminal.isJson, style)),
    log(event) {
      if (options.log !== undefined) return options.log(event);
      if (!isReady) return;
      if (terminal.isJson) void terminal.answer(eventJson(event), () => "");
      else terminal.note((style) => eventText(event, style));
    },
  });
  try {
    const { hubId, domain, url, unixUrl, operatorToken, database } = hub;
    const link = options.mode === "dev" ? hub.consoleLink() : undefined;
    const where = {
      hub: hubId,
      domain,
      url,
      unix_url: unixUrl,
      operator_token: operatorToken,
      database,
      console: link,
    };
    await terminal.answer(where, (style) =>
      bannerText(hub, { ...options, link, tookMs: Date.now() - startedAt }, style),
    );
    isReady = true;
    // Without it, a hub under load takes 150 MB more.
    collectGarbage();
    if (isOpen(values)) terminal.warn((style) => openWarning(values.host, style));
    if (!signal.aborted) await once(signal, "abort");
    terminal.note((style) =>
      style.faint("Stopping: work under way finishes first. Ctrl-C again stops at once."),
    );
  } finally {
    await hub.close();
  }
  terminal.note(
    (style) =>
      `${style.good("✔")} Stopped. Nothing is lost: start the hub again and all work continues.`,
  );
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/;

/** Whether the hub is reachable by others without encryption. */
function isOpen({
  host,
  tls_cert: cert,
  behind_proxy: isBehindProxy,
}: Context["settings"]["values"]): boolean {
  return !LOOPBACK.test(host) && cert === undefined && !isBehindProxy;
}

function openedText(path: string, isJson: boolean, style: Style): string {
  const says = `Others could read or write ${path}. Now only its owner can; others may know what it contains.`;
  return warningText(says, isJson, style);
}

/** A reader of a JSON log must find only JSON. */
function warningText(says: string, isJson: boolean, style: Style): string {
  return isJson ? JSON.stringify({ warning: says }) : `${style.warning("!")} ${says}`;
}

function openWarning(host: string, style: Style): string {
  const bar = style.warning("▌");
  return [
    `${bar} ${style.warning(style.strong("WARNING: others can reach this hub, and it has no TLS."))}`,
    `${bar} It listens on ${host}. Anyone on the network path can read every handoff, and change what operators see.`,
    `${bar} Signatures still prevent forged or altered handoffs. Use --tls-cert and --tls-key, or a`,
    `${bar} proxy that does TLS and --behind-proxy, or leave out --host.`,
  ].join("\n");
}

interface Started {
  readonly mode: RunOptions["mode"];
  /** Signs in to the console, once. */
  readonly link: string | undefined;
  readonly tookMs: number;
}

function bannerText(hub: RunningHub, { mode, link, tookMs }: Started, style: Style): string {
  const { url, unixUrl, database, hubKey, tokenFile } = hub;
  const rows: (readonly [string, string])[] = [
    ...(link === undefined
      ? []
      : [["console", `${style.link(link)} ${style.faint("signs in once")}`] as const]),
    ["API", style.link(`${url}/v1`)],
    ["socket", style.link(`${url.replace(/^http/, "ws")}/v1/socket`)],
    ...(unixUrl === undefined
      ? []
      : [["Unix socket", `${unixUrl} ${style.faint("for agents on this machine")}`] as const]),
    ["for an agent", `${style.link(`${url}/skill.md`)} ${style.faint("how to join with curl")}`],
    ["database", database],
    ["hub's key", hubKey],
    ["token", `${tokenFile} ${style.faint("for operators; commands in this folder use it")}`],
  ];
  const title = `${style.good("●")} ${style.strong("Waybill hub")} is ready ${style.faint(`in ${durationText(tookMs)}`)}`;
  const lines = [title, "", pairs(rows, style.faint).replaceAll(/^/gm, "  ")];
  if (mode === "dev") {
    lines.push(
      "",
      style.faint("  Ctrl-C stops the hub; nothing is lost. In another terminal, try:"),
      `  ${style.name("waybill doctor")}   ${style.name("waybill agents")}   ${style.name("waybill watch")}`,
      "",
    );
  }
  return lines.join("\n");
}

function eventText({ event, agent, handoffId, status, error }: HubLogEvent, style: Style): string {
  const time = style.faint(new Date().toISOString().slice(11, 19));
  const sign = {
    attached: style.good("→"),
    detached: style.faint("←"),
    ended: "■",
    failure: style.bad("✗"),
  }[event];
  const who = agent === undefined ? "" : ` ${style.strong(agent)}`;
  const what = handoffId === undefined ? "" : ` ${handoffId}`;
  const how =
    status === undefined
      ? ""
      : ` ${status < 400 ? style.good(String(status)) : style.bad(String(status))}`;
  const why = error === undefined ? "" : ` ${printable(WaybillError.from(error).message)}`;
  return `${time} ${sign} ${event}${who}${what}${how}${why}`;
}

function eventJson({ event, agent, handoffId, status, error }: HubLogEvent): unknown {
  return {
    event,
    at: new Date().toISOString(),
    agent,
    handoff_id: handoffId,
    status,
    error: error === undefined ? undefined : WaybillError.from(error).toJSON(),
  };
}
