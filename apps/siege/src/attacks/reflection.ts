/// <reference types="node" />
import type { AttackClass } from "../attack-class.ts";
import { victim } from "../toolkit/victim.ts";

export const reflection: AttackClass = {
  name: "reflection",
  does: "agents publish repeatedly, all with the inbox of a third party, so that the hub floods it with requests",
  from: ["elsewhere", "spread"],
  lands: ["publish 200"],
  never: ["more requests to the victim than publications"],
  hub: { arguments: ["--inner-inboxes", "127.0.0.9"] },
  async run(attacker) {
    const hit = await victim(attacker, (_request, response) => void response.writeHead(503).end());
    const path = `${hit.url}/inbox`;
    let publications = 0;
    await attacker.crowd(16, async (lane, turn) => {
      const actor = attacker.actor();
      for (let again = 0; again < 10 && !attacker.isOver; again++) {
        publications++;
        await attacker.publish(actor, [], { inbox: `${path}?${lane}-${turn}-${again}` });
      }
    });
    attacker.count("request to the victim", hit.requests());
    if (hit.requests() > publications) {
      attacker.count("more requests to the victim than publications");
    }
  },
};
