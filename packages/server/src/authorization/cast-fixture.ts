/// <reference types="node" />
import { Readable } from "node:stream";
import type { HubServer, Operator } from "@waybill/hub";
import {
  createHandoff,
  createReply,
  digestOf,
  digestOfJws,
  generateKey,
  newId,
  provenKey,
  provenRecoveryKey,
  signEnvelope,
  signManifest,
} from "@waybill/protocol";
import type {
  Artifact,
  CapabilityInput,
  Digest,
  HandoffEnvelope,
  PrivateKey,
} from "@waybill/protocol";
import { newOperatorToken } from "@waybill/protocol/wire";
import type { HubFrame, WireConsoleSession } from "@waybill/protocol/wire";
import { SERVED_LIMITS } from "../budgets.ts";
import type { DoorName, ServedLimits } from "../budgets.ts";
import { consoleSession, openWorld, Party } from "../served-fixture.ts";
import type { Signed, Wire, World } from "../served-fixture.ts";
import type { Role, Stage } from "./permissions-fixture.ts";

/** The roles that are agents of this hub. */
export type AgentRole = Extract<
  Role,
  | "delegator"
  | "recipient"
  | "earlier"
  | "candidate"
  | "peer"
  | "parent"
  | "child"
  | "bystander"
  | "operatorsAgent"
>;
export const AGENTS: readonly AgentRole[] = [
  "delegator",
  "recipient",
  "earlier",
  "candidate",
  "peer",
  "parent",
  "child",
  "bystander",
  "operatorsAgent",
];

const OFFERS: Readonly<Partial<Record<AgentRole, readonly CapabilityInput[]>>> = {
  delegator: [{ name: "plan", lease_seconds: 3_600 }],
  recipient: [{ name: "work", lease_seconds: 3_600 }],
  earlier: [{ name: "work", lease_seconds: 3_600 }],
  candidate: [
    { name: "work", lease_seconds: 3_600 },
    { name: "for_some", from: { agents: ["delegator"], groups: ["insiders"] } },
  ],
  child: [{ name: "part", lease_seconds: 3_600 }],
  bystander: [{ name: "rest" }],
};

/** The credit of a role that may take any number of attempts. */
export const CREDIT = 10_000;
const PLENTY = 1_000_000_000;
/** Nothing expires during the test, and no agent is ejected for its failures. */
const PATIENCE_MS = 3_600_000;
const LONG = { timeoutMs: PATIENCE_MS };

/** One handoff, and the envelopes of its parties. */
export interface Scene {
  readonly handoff: Signed;
  readonly parentHandoff: Signed;
  readonly childHandoff: Signed | undefined;
  readonly peerHandoff: Signed;
  readonly groupId: string;
  readonly stage: Stage;
  /** The attempt that is closed, and the one that is not. */
  readonly closedAttempt: number;
  readonly attempt: number;
  readonly question: Digest;
  readonly outcome: Digest;
  readonly offerId: string;
  /** What the handoff names. */
  readonly blob: Blob;
}

/** A blob, by its text. */
export interface Blob {
  readonly text: string;
  readonly digest: Digest;
}

function blobOf(text: string): Blob {
  return { text, digest: digestOf(text) };
}

/** An artifact that names a blob. */
export function blobArtifact({ text, digest }: Blob): Artifact {
  return { name: "a.txt", media_type: "text/plain", digest, size: text.length };
}

/** A served hub with an agent or a client in each role. */
export class Cast {
  readonly world: World;
  readonly parties: Readonly<Record<AgentRole, Party>>;
  /** Keys that the parties have rotated away. */
  readonly retired: Readonly<Record<"delegator" | "recipient", PrivateKey>>;
  /** Keys that sign recoveries of the parties, and nothing else. */
  readonly recovery: Readonly<Record<"delegator" | "recipient", PrivateKey>>;
  readonly unknown: PrivateKey = generateKey();
  /** An agent with nothing to do, whose keys operators end. */
  readonly idle: string = "idle";
  readonly otherToken: string = newOperatorToken(generateKey().kid);
  readonly metricsToken: string;
  readonly readerSession: WireConsoleSession;
  readonly #wires = new Map<AgentRole, Wire>();

  private constructor(
    world: World,
    parties: Cast["parties"],
    retired: Cast["retired"],
    recovery: Cast["recovery"],
    metricsToken: string,
    readerSession: WireConsoleSession,
  ) {
    this.world = world;
    this.parties = parties;
    this.retired = retired;
    this.recovery = recovery;
    this.metricsToken = metricsToken;
    this.readerSession = readerSession;
  }

  static async open(): Promise<Cast> {
    const metricsToken = "metrics-of-the-authorization-test";
    const world = await openWorld({
      hub: {
        terms: { backoffMs: 1, offerMs: PATIENCE_MS, graceMs: PATIENCE_MS },
      },
      // The hub is public, so that the registry and the metrics are protected.
      serve: { isBehindProxy: true, metricsToken, limits: unlimited() },
    });
    await world.hub.publish(signManifest({ agent_id: "idle", capabilities: [] }, generateKey()));
    const made = await Promise.all(
      AGENTS.map(async (role) => [role, await enrolled(world, role)] as const),
    );
    const parties = Object.fromEntries(
      made.map(([role, { party }]) => [role, party]),
    ) as Cast["parties"];
    const retired = Object.fromEntries(made.map(([role, each]) => [role, each.retired]));
    const recovery = Object.fromEntries(made.map(([role, each]) => [role, each.recovery]));
    await world.hub.operator.changeGroup("insiders", { add: [parties.peer.id] });
    await world.hub.operator.changeGroup("operators", { add: [parties.operatorsAgent.id] });
    const session = await consoleSession(world.served, "reader");
    return new Cast(world, parties, retired as never, recovery as never, metricsToken, session);
  }

  get hub(): HubServer {
    return this.world.hub;
  }

  /** The socket of an agent, reattached if it was closed. */
  async wire(role: AgentRole): Promise<Wire> {
    const known = this.#wires.get(role);
    if (known !== undefined && known.socket.readyState === known.socket.OPEN) return known;
    const wire = await this.parties[role].attach(role === "child" ? CREDIT : 0);
    // Unacknowledged deliveries are repeated, and close the connection if there are many.
    wire.socket.on("message", (data: Buffer) => {
      const frames = [JSON.parse(data.toString()) as HubFrame | HubFrame[]].flat();
      for (const frame of frames) {
        if (frame.type !== "delivery" || frame.delivery.type === "stop") continue;
        wire.say({ type: "seen", id: frame.delivery.id });
      }
    });
    this.#wires.set(role, wire);
    return wire;
  }

  /** The agent continues on another connection: its socket is closed. */
  async movedOn(role: AgentRole): Promise<void> {
    const wire = this.#wires.get(role);
    this.#wires.delete(role);
    await wire?.closed;
  }

  /** Waits until the frames of an agent were processed. */
  async settled(role: AgentRole): Promise<void> {
    const wire = await this.wire(role);
    wire.say({ type: "ping" });
    await wire.next("pong");
  }

  /** Waits until earlier envelopes of a handoff were processed, since they are serialized. */
  async turnOf(handoff: Signed): Promise<void> {
    const refused = said(this.parties.bystander, handoff, {
      kind: "progress",
      attempt: 1,
      re: digestOfJws(handoff.text),
      body: {},
    });
    await this.hub.submit(refused).catch(() => undefined);
  }

  async #credit(role: AgentRole, credit: number): Promise<void> {
    const wire = await this.wire(role);
    wire.say({ type: "credit", credit });
    await this.settled(role);
  }

  /** A handoff in the given stage. Every envelope in it is from a party that may send it. */
  async sceneAt(stage: Stage): Promise<Scene> {
    const { delegator, recipient, earlier, parent, peer, child } = this.parties;
    await this.#succeed();
    const parentHandoff = parent.handoff(delegator.id, {
      ...LONG,
      body: { capability: "plan" },
    });
    await this.hub.submit(parentHandoff.text);
    await this.#offered(parentHandoff, "delegator", 1);
    await this.hub.submit(delegator.accept(parentHandoff));

    const groupId = newId();
    const { correlation_id: correlationId } = parentHandoff.envelope;
    const blob = blobOf(`the film of ${groupId}`);
    await this.#uploaded("delegator", blob);
    const handoff = delegator.handoff("", {
      ...LONG,
      to: { capability: "work" },
      body: {
        capability: "work",
        contract: { max_attempts: 1 },
        artifacts: [blobArtifact(blob)],
      },
      parent: parentHandoff.envelope,
      group: { id: groupId, index: 0, size: 3, join: "all" },
    });
    const peerHandoff = peer.handoff("bystander", {
      ...LONG,
      body: { capability: "rest" },
      correlationId,
    });
    await this.hub.submit(peerHandoff.text);
    await this.hub.submit(handoff.text);
    await this.#offered(handoff, "earlier", 1);
    await this.hub.submit(earlier.accept(handoff));
    const release = { kind: "receipt", attempt: 1, body: { status: 300, retry_after_ms: 1 } };
    await this.hub.submit(said(earlier, handoff, { re: digestOfJws(handoff.text), ...release }));
    const offerId = await this.#offered(handoff, "recipient", 2);

    const scene = {
      handoff,
      parentHandoff,
      childHandoff: undefined,
      peerHandoff,
      groupId,
      stage,
      closedAttempt: 1,
      attempt: 2,
      question: digestOf("none was asked"),
      outcome: digestOf("none has come"),
      offerId,
      blob,
    };
    if (stage === "offered") return scene;
    await this.hub.submit(recipient.accept(handoff, 2));
    const childHandoff = recipient.handoff(child.id, {
      ...LONG,
      body: { capability: "part" },
      parent: handoff.envelope,
    });
    await this.hub.submit(childHandoff.text);
    await this.#offered(childHandoff, "child", 1);
    await this.hub.submit(child.accept(childHandoff));
    if (stage === "accepted") return { ...scene, childHandoff };
    const ofRecipient = { attempt: 2, re: digestOfJws(handoff.text) };
    const question = said(recipient, handoff, {
      ...ofRecipient,
      kind: "question",
      body: { questions: [{ id: "q" }] },
    });
    if (stage === "asked") {
      await this.hub.submit(question);
      return { ...scene, childHandoff, question: digestOfJws(question) };
    }
    const body =
      stage === "ended"
        ? { status: 200, output: "done" }
        : { status: 501, error: { message: "it was restarted" } };
    const end = said(recipient, handoff, { ...ofRecipient, kind: "result", body });
    await this.hub.submit(end);
    // The end reaches the child; the scene is stable only then.
    await this.#until(childHandoff.envelope.handoff_id, ({ state }) => state !== "open");
    return { ...scene, childHandoff, outcome: digestOfJws(end) };
  }

  async #uploaded(role: AgentRole, { text, digest }: Blob): Promise<void> {
    const upload = { digest, size: text.length, as: this.parties[role].id };
    await this.hub.blobs!.put(upload, Readable.from([Buffer.from(text)]));
  }

  /** Repeated failures would eject the recipient. */
  async #succeed(): Promise<void> {
    const { parent, recipient } = this.parties;
    const handoff = parent.handoff(recipient.id);
    await this.hub.submit(handoff.text);
    await this.#offered(handoff, "recipient", 1);
    await this.hub.submit(recipient.result(handoff));
  }

  /** Lets one agent take the handoff, and returns the id of the delivery that offers it. */
  async #offered({ envelope }: Signed, to: AgentRole, attempt: number): Promise<string> {
    const { handoff_id: id } = envelope;
    if (to !== "child") await this.#credit(to, CREDIT);
    else await this.wire(to);
    const wire = await this.wire(to);
    const { delivery } = await wire.next(
      "delivery",
      ({ delivery: each }) =>
        each.type === "offer" && each.handoff_id === id && each.attempt === attempt,
    );
    if (to !== "child") await this.#credit(to, 0);
    return (delivery as { id: string }).id;
  }

  async #until(
    id: string,
    isSo: (view: NonNullable<Awaited<ReturnType<HubServer["operator"]["handoff"]>>>) => boolean,
  ): Promise<void> {
    let stop = () => undefined as void;
    await new Promise<void>((resolve, reject) => {
      const look = () =>
        this.hub.operator.handoff(id).then((view) => {
          if (view !== undefined && isSo(view)) resolve();
        }, reject);
      stop = this.world.store.onCommit(() => void look());
      void look();
    });
    stop();
  }

  /** The same handoff, with an id that was never submitted. */
  ghostOf({ handoff, ...rest }: Scene): Scene {
    const { delegator } = this.parties;
    const envelope: HandoffEnvelope = {
      ...createHandoff({
        from: delegator.id,
        domain: this.hub.domain,
        to: handoff.envelope.to,
        body: handoff.envelope.body,
        timeoutMs: 60_000,
        handoffId: newId(),
        correlationId: newId(),
      }),
      hop: handoff.envelope.hop,
    };
    return {
      ...rest,
      handoff: { envelope, text: signEnvelope(envelope, delegator.key) },
      question: digestOf("a question of nobody"),
      outcome: digestOf("an end of nobody"),
      groupId: newId(),
      blob: blobOf(`a film that nobody has uploaded, ${newId()}`),
    };
  }

  #kept: ReturnType<Operator["invite"]> | undefined;

  /** An invitation to revoke: a shared one for roles that may not, and a new one for a role that may. */
  invitation(isNew: boolean): ReturnType<Operator["invite"]> {
    if (isNew) return this.hub.operator.invite();
    return (this.#kept ??= this.hub.operator.invite());
  }

  /** The next manifest of the delegator, signed by the given key. */
  async nextManifest(agent: string, key: PrivateKey): Promise<string> {
    const { sequence, digest } = await this.hub.operator.presence(agent);
    const capabilities = OFFERS.delegator!;
    const follows = { sequence: sequence + 1, previous: digest };
    const { delegator } = this.recovery;
    // A recovery key can't be listed for signing, so its holder lists another.
    const signing = key === delegator ? provenKey(agent, this.unknown) : key.jwk;
    const keys = [signing, provenRecoveryKey(agent, delegator)];
    return signManifest({ agent_id: agent, capabilities, keys, ...follows }, key);
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#wires.values(), (wire) => wire.close()));
    await this.world.close();
  }
}

export function said(
  party: Pick<Party, "id" | "key">,
  { envelope }: Signed,
  given: object,
): string {
  return signEnvelope(createReply(envelope, { from: party.id, ...given } as never), party.key);
}

async function enrolled(
  { hub, url }: World,
  role: AgentRole,
): Promise<{
  readonly party: Party;
  readonly retired: PrivateKey;
  readonly recovery: PrivateKey;
}> {
  const id = role.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const [old, young, recovery] = [generateKey(), generateKey(), generateKey()];
  const capabilities = OFFERS[role] ?? [];
  const first = signManifest({ agent_id: id, capabilities }, old);
  await hub.publish(first);
  const keys = [provenKey(id, young), provenRecoveryKey(id, recovery)];
  const follows = { sequence: 2, previous: digestOfJws(first) };
  await hub.publish(signManifest({ agent_id: id, capabilities, keys, ...follows }, old));
  return { party: new Party(id, young, url, hub), retired: old, recovery };
}

/** No rate limits: they have a test of their own. */
function unlimited(): Partial<ServedLimits> {
  const names = Object.keys(SERVED_LIMITS) as DoorName[];
  const rates = names.filter((name) => /^(requests|burst|bytes|calls|proofs|stranger)/.test(name));
  const kept: readonly DoorName[] = ["requestsAtOnce", "requestsPerFailure"];
  return {
    ...Object.fromEntries(
      rates.filter((name) => !kept.includes(name)).map((name) => [name, PLENTY]),
    ),
    requestsPerFailure: 1,
    pingMs: 3_600_000,
  };
}
