import type { AttackClass } from "../attack-class.ts";
import { accept, pair } from "../toolkit/pair.ts";

const DELEGATORS = 20;
const WAIT_SECONDS = 86_400;

/** Sessions belong to their delegator, so a guessed id is a new session, and its holder learns so. */
export const guessedSessions: AttackClass = {
  name: "guessed-sessions",
  does: "20 delegators name thousands of guessed sessions, half of which wait a day for their agent",
  from: ["elsewhere", "spread"],
  lands: ["own 200", "handoff 200", "begun", "result 200"],
  never: ["continued", "lost"],
  async run(attacker) {
    const { recipient, delegator } = await pair(attacker, async (offer, own) => {
      const { handoff, attempt, session = "without" } = offer;
      attacker.count(session);
      await accept(offer, own);
      const body = { status: 200, output: "done" };
      const envelope = own.recipient.about(handoff, "result", body, { attempt });
      attacker.count(`result ${await own.line.call("submit", { envelope })}`);
    });
    for (let index = 0; index < DELEGATORS && !attacker.isOver; index++) {
      const session = { id: `job-${index}` };
      const own = delegator.handoff(recipient.id, { capability: "work" }, { session });
      await attacker.submit(own.text, "own");
    }
    const others = await Promise.all(Array.from({ length: DELEGATORS }, () => attacker.enrolled()));
    await attacker.crowd(DELEGATORS, async (lane, turn) => {
      const id = `job-${turn}`;
      const session = lane % 2 === 0 ? { id } : { id, wait_seconds: WAIT_SECONDS };
      const to = turn % 2 === 0 ? recipient.id : { capability: "work" };
      const handoff = others[lane]!.handoff(to, { capability: "work" }, { session });
      await attacker.submit(handoff.text, "handoff");
    });
  },
};
