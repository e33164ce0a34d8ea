import type { Delivery } from "@waybill/protocol/wire";

/** The weight of a delivery: the characters of the envelopes in it. */
export function charactersOf(delivery: Delivery): number {
  if (delivery.type === "stop") return delivery.reason.length;
  const { envelope } = delivery;
  if (delivery.type === "envelope") return envelope.length;
  const { resume = "", answers } = delivery;
  return answers.reduce((sum, answer) => sum + answer.length, envelope.length + resume.length);
}
