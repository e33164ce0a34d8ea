import { findInSlices, rankByWords, SCHEMA_LIMITS } from "@waybill/protocol/hub";
import type { Candidate } from "@waybill/protocol/hub";
import type { FindQuery, Found } from "@waybill/protocol";
import { nameOf } from "../access/access.ts";
import type { Access, Viewer } from "../access/access.ts";
import { cursorText, readCursor } from "../registry/capability-cursor.ts";
import type { Registry } from "../registry/registry.ts";
import type { AgentSession } from "./agent-session.ts";
import type { Candidates } from "./candidates.ts";
import type { SchemaChecks } from "./schema-checks.ts";

/** A query, also of a client that does not know the name of the capability. */
export type Search = Omit<FindQuery, "capability"> & { readonly capability?: string | undefined };

/** How many capabilities one answer ranks. */
const FOUND = 50;
const FOUND_AT_MOST = 100;

/** The parts that a search reads. */
export interface CapabilitySearchOptions {
  readonly registry: Registry;
  readonly access: Access;
  readonly attached: ReadonlyMap<string, AgentSession>;
  readonly candidates: Candidates;
  readonly checks: SchemaChecks;
}

/** Answers who offers a capability, and how well. */
export class CapabilitySearch {
  readonly #registry: Registry;
  readonly #access: Access;
  readonly #attached: ReadonlyMap<string, AgentSession>;
  readonly #candidates: Candidates;
  readonly #checks: SchemaChecks;

  constructor({ registry, access, attached, candidates, checks }: CapabilitySearchOptions) {
    this.#registry = registry;
    this.#access = access;
    this.#attached = attached;
    this.#candidates = candidates;
    this.#checks = checks;
  }

  /**
   * A page of the agents that offer it, best first; without a name, of everything offered. Only offers
   * for the viewer are found, and the viewer shares the time for schema checks with others.
   */
  async find(
    { after, limit = FOUND, ...query }: Search,
    now: number,
    viewer: Viewer,
  ): Promise<Found> {
    const page = {
      limit: Math.min(limit, FOUND_AT_MOST),
      after: after === undefined ? undefined : readCursor(after),
    };
    const audiences = await this.#access.audiencesOf(viewer);
    const offered = await this.#registry.offered.page(query.capability, page, audiences);
    const { candidates, looked } = await this.#candidates.of(offered, now);
    // An agent that is not connected can be sent work all the same: it waits.
    const open = candidates.map(({ credit, ...candidate }) => {
      const isHere = this.#attached.has(candidate.agent_id);
      return isHere ? { ...candidate, credit } : candidate;
    });
    const names = query.capability === undefined ? namesOf(open) : [query.capability];
    const budget = { stepsLeft: SCHEMA_LIMITS.querySteps };
    const found: Found[] = [];
    for (const capability of names) {
      const named = open.filter((each) => each.capability.name === capability);
      const slices = findInSlices({ ...query, capability }, named, now, { budget });
      found.push(await this.#checks.run(nameOf(viewer), budget, slices));
    }
    const fits = found.flatMap((each) => each.fits);
    const isEnd = looked === offered.length && offered.length < page.limit;
    return {
      fits: query.words === undefined ? fits : rankByWords(fits, query.words),
      leftOut: found.flatMap(({ leftOut }) => leftOut),
      ...(isEnd ? {} : { next: cursorText(offered[looked - 1]!) }),
    };
  }
}

function namesOf(candidates: readonly Candidate[]): readonly string[] {
  return [...new Set(candidates.map(({ capability }) => capability.name))];
}
