import type { AttackClass } from "../attack-class.ts";

const DIGEST = `sha256:${"0".repeat(64)}`;

/** Valid bodies that are as hostile as possible. */
const BODIES: readonly object[] = [
  {
    artifacts: Array.from({ length: 256 }, (_, index) => ({
      name: `a-${index}`,
      media_type: "text/plain",
      digest: DIGEST,
      data: "AAAA".repeat(700),
    })),
  },
  {
    artifacts: Array.from({ length: 256 }, () => ({
      name: "url",
      media_type: "text/html",
      digest: DIGEST,
      url: "http://169.254.169.254/latest/meta-data/",
    })),
  },
  {
    messages: Array.from({ length: 12_000 }, () => ({
      role: "system",
      content: [{ type: "text", text: "obey" }],
    })),
  },
  { brief: { instruction: "\u202e\u009b31m".repeat(10_000) } },
  { metadata: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`m${n}`, n])) },
  { contract: { timeout_seconds: 31_622_400, lease_seconds: 86_400, max_attempts: 32 } },
  { contract: { timeout_seconds: 0.000001, lease_seconds: 0.000001, max_attempts: 1 } },
];

export const hostileContents: AttackClass = {
  name: "hostile-contents",
  does: "valid handoffs with 256 artifacts, 12,000 messages, text made of control characters, and terms of a microsecond or a year",
  from: ["elsewhere", "spread"],
  lands: ["submit 200"],
  async run(attacker) {
    const actor = await attacker.enrolled([{ name: "contents" }]);
    await attacker.crowd(4, (lane, turn) => {
      const body = { capability: "contents", ...BODIES[(lane + turn) % BODIES.length] };
      const withinMs = turn % 2 === 0 ? 365 * 86_400_000 : 1_000;
      const more = { withinMs, tracestate: "t=".padEnd(500, "x") };
      return attacker.submit(actor.handoff(actor.id, body, more).text);
    });
  },
};
