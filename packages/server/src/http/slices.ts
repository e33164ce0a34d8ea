/// <reference types="node" />
import type { Socket } from "node:net";

/** What the reader has to know of a connection. */
interface ReadConnection {
  /** It is cut. */
  readonly isCondemned: boolean;
  /** It speaks another protocol from here on. */
  readonly isUpgraded: boolean;
  readonly isInBody: boolean;
}

/** Between bodies so many bytes are read at a time: hardly more than the headers of a usual request. */
const BYTES_AT_A_TIME = 1_024;

/**
 * Hands what comes on a connection to the reader of HTTP in small pieces, and nothing more once the
 * connection is cut. In one go that reader makes requests of all that has come in a packet, a thousand
 * of them, and nothing stops it.
 */
export function readInSlices(socket: Socket, connection: ReadConnection): void {
  const readers = socket.listeners("data") as ((bytes: Buffer) => void)[];
  const read = (bytes: Buffer): void => {
    for (let start = 0; start < bytes.length;) {
      if (socket.destroyed || connection.isCondemned) return;
      // Who speaks the next protocol before it was agreed on does not speak this one.
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
