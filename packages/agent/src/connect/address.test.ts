import { expect, test } from "vitest";
import { connect } from "./connect.ts";

test("an invalid hub address is refused with an example of a valid one", async () => {
  const bad: readonly (readonly [string, string])[] = [
    ["", "http://127.0.0.1:7411"],
    ["hub.example", "https://hub.example"],
    ["localhost:7411", "http://localhost:7411"],
    ["127.0.0.1:7411", "http://127.0.0.1:7411"],
    ["ws://hub.example/x", "http://hub.example/x"],
    ["wss://hub.example", "https://hub.example"],
    ["ftp://hub.example", "http://127.0.0.1:7411"],
    ["http://user@hub.example", "http://hub.example"],
    ["http://:secret@hub.example", "http://hub.example"],
    ["http://hub.example/?a=1", "http://hub.example"],
    [7411 as never, "http://127.0.0.1:7411"],
  ];
  for (const [given, like] of bad) {
    const refused = connect(given);
    await expect(refused).rejects.toMatchObject({ status: 400, at: "/url" });
    await expect(refused).rejects.toThrow(`for example ${JSON.stringify(like)}`);
    await expect(refused).rejects.not.toThrow("secret");
  }
});
