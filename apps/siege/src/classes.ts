import { WaybillError } from "@waybill/protocol";
import type { AttackClass } from "./attack-class.ts";
import { listing } from "./attacks/listing.ts";
import { pipelining } from "./attacks/pipelining.ts";
import { schemaPattern, schemaUnique, schemaContains } from "./attacks/schema-bomb.ts";
import { misaddressed } from "./attacks/misaddressed.ts";
import { silence } from "./attacks/silence.ts";

/** Every class of attack: one program each. */
export const CLASSES: readonly AttackClass[] = [
  listing,
  schemaPattern,
  schemaUnique,
  schemaContains,
  pipelining,
  misaddressed,
  silence,
];

export function classNamed(name: string): AttackClass {
  const found = CLASSES.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = CLASSES.map((each) => each.name).join(", ");
  throw new WaybillError(400, `There is no class ${name}. There are: ${names}.`);
}
