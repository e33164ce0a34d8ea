import type { AttackClass } from "../attack-class.ts";

const LONG = "z".repeat(4_000);
const CURSORS = [
  "",
  "%20",
  "0",
  "-1",
  "1e308",
  "9007199254740993",
  "NaN",
  "null",
  "%00",
  "%FF%FE",
  "../../etc/passwd",
  "'%20OR%201=1--",
  "%F0%9F%98%80",
  "a%20b%20c%20d",
  "%7B%7D",
  "zzzzzzzz",
  LONG,
];
const LIMITS = ["", "0", "1", "-1", "1000000", "1e9", "1.5", "x"];

export const cursors: AttackClass = {
  name: "cursors",
  does: "every paged list is requested with cursors and limits that the hub never issued, and read to its end one item at a time",
  from: ["elsewhere", "spread"],
  lands: ["page 200", "page 400"],
  never: ["page 500"],
  async run(attacker) {
    const agent = await attacker.enrolled(
      Array.from({ length: 50 }, (_, index) => ({ name: `paged-${index}` })),
    );
    const handoff = agent.handoff(agent.id, { capability: "paged-1" });
    await attacker.submit(handoff.text, "handoff");
    const lists = [
      "/v1/capabilities?",
      "/v1/capabilities?tags=x&",
      "/v1/agents?",
      `/v1/handoffs?correlation_id=${handoff.correlationId}&`,
      `/v1/handoffs/${handoff.handoffId}/history?`,
      `/.well-known/waybill/agents/${agent.id}?`,
      "/v1/dead-letters?",
    ];
    await attacker.crowd(6, async (lane, turn) => {
      const list = lists[(lane + turn) % lists.length]!;
      const cursor = CURSORS[turn % CURSORS.length]!;
      const limit = LIMITS[(turn >> 2) % LIMITS.length]!;
      if (turn % 3 > 0) {
        const path = `${list}after=${cursor}${limit === "" ? "" : `&limit=${limit}`}`;
        await attacker.ask({ path, as: agent, label: "page" });
        return;
      }
      for (let after: string | undefined; !attacker.isOver;) {
        const from = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
        const path = `${list}limit=1${from}`;
        const { status, text } = await attacker.ask({ path, as: agent, label: "page" });
        if (status !== 200) return;
        const { next } = JSON.parse(text) as { next?: string | number };
        if (next === undefined || String(next) === after) return;
        after = String(next);
      }
    });
  },
};
