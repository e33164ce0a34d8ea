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
