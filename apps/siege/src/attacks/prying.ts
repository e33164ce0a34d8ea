import { newId } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";

export const prying: AttackClass = {
  name: "prying",
  does: "a stranger requests handoffs, histories and dead letters of others, and names them as parents, replays and groups, to learn from the answers which exist",
  lands: ["handoff 200", "asked"],
  never: ["something of another's was told", "what exists was told from what does not"],
  async run(attacker) {
    const owner = await attacker.enrolled([{ name: "secret" }]);
    const stranger = await attacker.enrolled();
    const own = owner.handoff(owner.id, { capability: "secret", input: "secret" });
    await attacker.submit(own.text, "handoff");
    const members = (id: string): readonly object[] => [
      { parent_id: id, hop: 1 },
      { parent_id: id, hop: 1, correlation_id: own.correlationId },
      { replay_of: id },
    ];
    const paths = (id: string): readonly string[] => [
      `/v1/handoffs/${id}`,
      `/v1/handoffs/${id}/history`,
      `/v1/dead-letters/${id}`,
    ];
    await attacker.crowd(4, async (_lane, turn) => {
      const unknown = newId();
      attacker.count("asked");
      const index = turn % 6;
      const answers = await Promise.all(
        [own.handoffId, unknown].map(async (id) => {
          if (index < 3) {
            const found = await attacker.ask({
              path: paths(id)[index]!,
              as: stranger,
              label: "read",
            });
            if (found.status === 200) attacker.count("something of another's was told");
            return found;
          }
          const body = { capability: "secret" };
          const sent = stranger.handoff(
            owner.id,
            body,
            members(id)[index - 3] as Record<string, unknown>,
          );
          return attacker.submit(sent.text);
        }),
      );
      const [here, nowhere] = answers.map(({ status, text }) => `${status} ${codeOf(text)}`);
      if (here !== nowhere && !attacker.isOver) {
        attacker.count("what exists was told from what does not");
        attacker.count(
          `${JSON.stringify(index < 3 ? paths("x")[index] : members("x")[index - 3])}: ${here} or ${nowhere}`,
        );
      }
    });
  },
};

function codeOf(text: string): string {
  return (JSON.parse(text) as { code?: string }).code ?? "";
}
