import type { AttackClass } from "../attack-class.ts";
import { accept, pair } from "../toolkit/pair.ts";
import type { Offered } from "../toolkit/pair.ts";

/** What a stranger sends about a handoff between others, posing as either party. */
const SAID: readonly (readonly [kind: string, body: object])[] = [
  ["cancel", { reason: "because" }],
  ["result", { status: 200, output: "stolen" }],
  ["receipt", { status: 101 }],
  ["receipt", { status: 200 }],
  ["progress", { fraction: 1 }],
  ["question", { questions: [{ id: "q", text: "?" }] }],
  ["answer", { question_id: "q", answer: "!" }],
  ["notice", { status: 504, reason: "over" }],
];

export const meddling: AttackClass = {
  name: "meddling",
  does: "a stranger sends every kind of envelope about the handoffs of others, and about handoffs that do not exist",
  lands: ["offered", "meddled 403"],
  never: ["meddled 200", "meddled 500"],
  async run(attacker) {
    const open: Offered[] = [];
    const { delegator, recipient } = await pair(attacker, async (offer, both) => {
      await accept(offer, both);
      open.push(offer);
    });
    const stranger = await attacker.enrolled();
    await attacker.submit(delegator.handoff(recipient.id, { capability: "work" }).text, "handoff");
    while (open.length === 0 && !attacker.isOver) await attacker.rest(10);
    await attacker.crowd(8, async (lane, turn) => {
      const { handoff, attempt } = open[turn % open.length]!;
      const [kind, body] = SAID[(lane + turn) % SAID.length]!;
      const unknown = stranger.handoff("nobody", { capability: "work" });
      const isKnown = turn % 2 === 0;
      const about = isKnown ? handoff : unknown;
      const to = turn % 3 === 0 ? delegator.id : turn % 3 === 1 ? recipient.id : attacker.place.hub;
      const text = stranger.about(about, kind, body, { attempt, to });
      await attacker.submit(text, isKnown ? "meddled" : "unknown");
    });
  },
};
