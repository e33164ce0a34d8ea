/** What the peer's server needs of express, which comes without types. */
declare module "express" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

  export type RequestHandler = (
    request: IncomingMessage,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ) => void;

  export default function express(): RequestListener & {
    use(path: string, handler: RequestHandler): void;
  };
}
