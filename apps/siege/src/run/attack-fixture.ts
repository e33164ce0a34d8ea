/// <reference types="node" />
// An attack that makes one request for the weakness planted under its class's name.
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
