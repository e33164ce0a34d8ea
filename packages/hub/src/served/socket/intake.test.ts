import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import { HUB_LIMITS } from "../../engine/options.ts";
import { Budgets } from "../budgets.ts";
import { Tolls } from "../doors/tolls.ts";
import { Turns } from "../doors/turns.ts";
import { Intake } from "./intake.ts";
import type { IntakeOptions } from "./intake.ts";

/** The side of a WebSocket that an intake sees. */
class Line extends EventEmitter {
  readonly bufferedAmount = 0;
  isPaused = false;
  pongs = 0;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  pong(): void {
    this.pongs++;
  }
}

test("41: after a failure a socket is read a little further, and no flood costs anything more", () => {
  const budgets = new Budgets();
  const tolls = new Tolls(budgets);
  const address = "127.0.0.1";
  const line = new Line();
  const failures: number[] = [];
  const options = {
    budgets,
    tolls,
    turns: new Turns(10, () => undefined),
    connections: { hold: () => false },
    connection: { address },
    toll: tolls.enter({ address, bytes: 0, isSigned: false, isTrusted: false }),
  } as unknown as IntakeOptions;
  new Intake(line as unknown as WebSocket, HUB_LIMITS, options, {
    heard: () => undefined,
    failed: ({ status }) => failures.push(status),
  });
  for (let count = 0; count < 65; count++) line.emit("ping", Buffer.alloc(1));
  // The peer's close frame may come next, and ends the connection at once where it is read.
  expect(failures).toEqual([401]);
  expect(line.isPaused).toBe(false);
  for (let count = 0; count < 1_000; count++) line.emit("ping", Buffer.alloc(1));
  expect(failures).toEqual([401]);
  expect(line.pongs).toBe(64);
  expect(line.isPaused).toBe(true);
});
