/// <reference types="node" />
import type { Socket } from "node:net";

/** What the reader has to know about a connection. */
interface ReadConnection {
  /** It is closed. */
  readonly isCondemned: boolean;
  /** It speaks another protocol from here on. */
  readonly isUpgraded: boolean;
  readonly isInBody: boolean;
}

/** How many bytes are parsed at a time between bodies: hardly more than the headers of a usual request. */
const BYTES_AT_A_TIME = 1_024;

/**
 * Passes the bytes of a connection to the HTTP parser in small pieces, and stops once the connection
 * is closed. In one go the parser would make requests of everything in a packet, possibly a thousand
 * of them, and nothing could stop it.
 */
export function readInSlices(socket: Socket, connection: ReadConnection): void {
  const readers = socket.listeners("data") as ((bytes: Buffer) => void)[];
  const read = (bytes: Buffer): void => {
    for (let start = 0; start < bytes.length;) {
      if (socket.destroyed || connection.isCondemned) return;
      // A client that uses the next protocol before the upgrade is confirmed violates it.
      if (connection.isUpgraded) return void socket.destroy();
      if (socket.isPaused()) return socket.unshift(bytes.subarray(start));
      const end = connection.isInBody ? bytes.length : start + BYTES_AT_A_TIME;
      const slice = bytes.subarray(start, end);
      for (const reader of readers) reader.call(socket, slice);
      start += slice.length;
    }
    if (connection.isUpgraded) socket.off("data", read);
  };
  socket.on("data", read);
  for (const reader of readers) socket.off("data", reader);
}
