/// <reference types="node" />

/** What an attacker knows of the hub: what everybody can read at `/.well-known/waybill`. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** The hub's id: whom requests are signed for. */
  readonly hub: string;
  readonly domain: string | undefined;
  /** Only of use to attacks that an operator's own tools could make by accident. */
  readonly operatorToken: string;
}

export async function placeAt(url: string, operatorToken: string): Promise<Place> {
  const { hostname, port, protocol } = new URL(url);
  const response = await fetch(`${url}/.well-known/waybill`);
  const { hub, domain } = (await response.json()) as { hub: string; domain?: string };
  const isTls = protocol === "https:";
  return { host: hostname, port: Number(port), isTls, hub, domain, operatorToken };
}
