import { newId } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";

const MOST = 1_000;

export const inboxNews: AttackClass = {
  name: "inbox-news",
  does: "agents send frames about handoffs that do not exist: a thousand taken, a thousand heartbeats and a thousand seen at a time",
  from: ["elsewhere", "spread"],
  lands: ["news 204"],
  async run(attacker) {
    const attempts = Array.from({ length: MOST }, () => ({ handoff_id: newId(), attempt: 1 }));
    const seen = Array.from({ length: MOST }, () => newId());
    const news = { instance: "news", taken: attempts, heartbeats: attempts, seen, credit: 10_000 };
    const body = JSON.stringify(news);
    await attacker.crowd(4, async () => {
      const actor = await attacker.enrolled([{ name: "work" }]);
      await attacker.crowd(2, () =>
        attacker.ask({ method: "POST", path: "/v1/inbox", body, as: actor, label: "news" }),
      );
    });
  },
};
