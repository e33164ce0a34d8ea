/// <reference types="node" />
// An attack that asks for what is planted under the name of its class, once.
import type { AttackOrder, FromAttack } from "../attack.ts";

const { name, place } = JSON.parse(process.argv[2] ?? "") as AttackOrder;
const tell = (message: FromAttack): void => void process.send!(message);
tell({ type: "begun" });
const status = await fetch(`http://${place.host}:${place.port}/planted/${name}`).then(
  (response) => `${response.status}`,
  () => "cut",
);
tell({ type: "ended", report: { tally: { [status]: 1 }, reasons: {} } });
process.disconnect();
