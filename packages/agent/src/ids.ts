import { isAgentId, isCapabilityName, isId, WaybillError } from "@waybill/protocol";

/** Throws if a value is no valid agent id, and suggests one. */
export function checkAgentId(given: unknown, member = "id"): asserts given is string {
  if (isAgentId(given)) return;
  throw new WaybillError(
    400,
    `${shown(given)} is not an agent id: it must have 1 to 128 of a-z 0-9 . _ -, and start and end with a letter or digit, for example ${JSON.stringify(agentIdLike(given))}.`,
    { at: `/${member}` },
  );
}

/** Throws if a value is no valid capability name, and suggests one. */
export function checkCapabilityName(given: unknown): asserts given is string {
  if (isCapabilityName(given)) return;
  throw new WaybillError(
    400,
    `${shown(given)} is not a capability name: it must have 1 to 128 of A-Z a-z 0-9 _ . : / -, and start with a letter, a digit or _, for example ${JSON.stringify(capabilityNameLike(given))}.`,
    { at: "/capability" },
  );
}

const EXAMPLE_ID = "0198c2a6-9b1e-7c43-8f5d-2a60b3e71d94";

/** Throws if a value that is given as an id is none. Undefined is fine. */
export function checkId(given: unknown, member: string): asserts given is string | undefined {
  if (given === undefined || isId(given)) return;
  throw new WaybillError(
    400,
    `${shown(given)} is not a ${member}: it must be a UUID of version 7 in lower case, for example "${EXAMPLE_ID}". newId() creates one.`,
    { at: `/${member}` },
  );
}

const SHOWN = 80;

function shown(given: unknown): string {
  if (typeof given !== "string") return given === null ? "null" : typeof given;
  return JSON.stringify(given.length > SHOWN ? `${given.slice(0, SHOWN)}…` : given);
}

function agentIdLike(given: unknown): string {
  const id = plain(given)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+|[._-]+$/g, "")
    .slice(0, 64);
  return isAgentId(id) ? id : "editor-001";
}

function capabilityNameLike(given: unknown): string {
  const name = plain(given)
    .replace(/[^A-Za-z0-9_.:/-]+/g, "_")
    .replace(/^[.:/_-]+|[.:/_-]+$/g, "")
    .slice(0, 64);
  return isCapabilityName(name) ? name : "web_research";
}

/** Letters without their diacritics: ä becomes a. */
function plain(given: unknown): string {
  return typeof given === "string" ? given.normalize("NFD").replace(/\p{M}/gu, "") : "";
}
