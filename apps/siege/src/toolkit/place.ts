/** What an attacker knows of the hub: the public contents of `/.well-known/waybill`. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** The hub's id, for which requests are signed. */
  readonly hub: string;
  readonly domain: string | undefined;
  /** Only for attacks that an operator's own tools could cause by accident. */
  readonly operatorToken: string;
}
