import type { AttackClass } from "../attack-class.ts";

const REQUESTS = [
  { path: "/healthz" },
  { path: "/readyz" },
  { path: "/nothing/here" },
  { path: "/.well-known/waybill" },
  { path: "/v1/handoffs/x" },
  { path: "/v1/envelopes", method: "POST", body: "{}" },
  { path: "/v1/envelopes", method: "POST", body: "{" },
  { path: "/v1/inbox", headers: { authorization: "Waybill x" } },
  { path: "/v1/ledger", headers: { authorization: "Bearer x" } },
];

export const manySmall: AttackClass = {
  name: "many-small",
  does: "small requests as fast as possible, most of them invalid",
  from: ["elsewhere", "beside", "spread"],
  lands: ["200", "400", "401", "404"],
  async run(attacker) {
    await attacker.crowd(64, (lane, turn) =>
      attacker.ask(REQUESTS[(lane + turn) % REQUESTS.length]!),
    );
  },
};
