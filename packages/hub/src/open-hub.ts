import { generateKey, signManifest, WaybillError } from "@waybill/protocol";
import type { FindQuery, Found, PrivateKey } from "@waybill/protocol";
import type {
  Attachment,
  AttachRequest,
  Delivery,
  HandoffView,
  Hub,
  ManifestsQuery,
  PublishedManifest,
  PublishedPage,
} from "@waybill/protocol/wire";
import type { Viewer } from "./access/access.ts";
import { DeadLetters } from "./dead-letters.ts";
import { submit } from "./engine/submit.ts";
import { Engine } from "./engine/engine.ts";
import { REACTIONS } from "./engine/reactions.ts";
import type { HubOptions, KeyedHubOptions } from "./engine/options.ts";
import { isParty, viewOf } from "./engine/view.ts";
import { HelloVerifier } from "./registry/hello-verifier.ts";
import { identityOf, keepIdentity } from "./registry/identity.ts";
import { Operator } from "./operator.ts";
import { nextOf, PAGE_CHARACTERS } from "./page.ts";
import { attachAgent, checkAttachRequest } from "./routing/attach-agent.ts";
import type { AttachingAgent } from "./routing/agent-session.ts";
import type { Store, StoredManifest } from "./store.ts";

/** How many manifests one answer contains. */
const MANIFESTS = 100;

/** A hub in this process: what agents need, and what an operator may do. */
export interface HubServer extends Hub {
  readonly deadLetters: DeadLetters;
  readonly operator: Operator;
  /** Ends all attachments, waits for work under way, and leaves the store to its owner. */
  close(): Promise<void>;
}

/**
 * Opens a hub over a store: all handoffs in its custody are continued.
 *
 * @example
 * ```ts
 * const hub = await openHub({ store: await openSqliteStore("hub.db"), key: await loadKey("hub.key") });
 * const agent = createAgent({ id: "editor", hub });
 * ```
 */
export async function openHub(given: HubOptions): Promise<HubServer> {
  const options: KeyedHubOptions = { ...given, key: given.key ?? passingKey(given.store) };
  const engine = new Engine(options, await identityOf(options), REACTIONS);
  const { registry, clock, limits } = engine;
  if (!(await registry.isKnown(engine.id))) {
    const manifest = signManifest({ agent_id: engine.id, capabilities: [] }, options.key);
    await registry.publish(manifest, clock.now(), { newcomers: "open" });
  } else if ((await registry.keyOf(options.key.kid))?.agent !== engine.id) {
    throw new WaybillError(
      401,
      `The store belongs to the hub ${engine.id} with a different key than ${options.key.kid}: open it with its original key.`,
    );
  }
  await keepIdentity(options.store, engine);
  await engine.start();
  const doorkeeper = new HelloVerifier(engine, registry, limits.clockSkewMs);
  return {
    id: engine.id,
    domain: engine.domain,
    ...(options.store.isVolatile === true ? { isVolatile: true } : {}),
    deadLetters: new DeadLetters(engine),
    operator: new Operator(engine),
    submit: (envelope, as) => submit(engine, envelope, as),
    publish: (manifest, invitation) => publish(engine, manifest, invitation),
    manifests: (query) => manifests(engine, query),
    find: (query, as) => find(engine, query, as),
    attach: (request, handler, show) => attach(engine, doorkeeper, { ...request, show }, handler),
    handoff: (id, as) => view(engine, id, as),
    ...(engine.blobs === undefined ? {} : { blobs: engine.blobs }),
    close: () => engine.close(),
  };
}

const passingKeys = new WeakMap<Store, PrivateKey>();

/** The key of a hub that keeps nothing beyond its process. A durable store needs a durable key. */
function passingKey(store: Store): PrivateKey {
  if (store.isVolatile !== true) {
    throw new WaybillError(
      400,
      'A hub over a store that lasts signs with the same key at every start, so it has to be given one: openHub({ store, key: await loadKey("hub.key") }), with loadKey of @waybill/agent.',
    );
  }
  const key = passingKeys.get(store) ?? generateKey();
  passingKeys.set(store, key);
  return key;
}

async function publish(engine: Engine, manifest: string, invitation?: string): Promise<void> {
  await engine.publish(manifest, { newcomers: engine.options.newcomers ?? "open", invitation });
}

async function manifests(
  engine: Engine,
  { agent, after, limit = MANIFESTS, newest = false }: ManifestsQuery,
): Promise<PublishedPage> {
  engine.assertOpen();
  if (newest) {
    const stored = await engine.store.manifest(agent);
    return { manifests: stored === undefined ? [] : [publishedOf(stored)] };
  }
  const page = { after, limit: Math.min(limit, MANIFESTS), characters: PAGE_CHARACTERS };
  const stored = await engine.store.manifests(agent, page);
  const next = nextOf(stored, page, ({ text }) => text.length)?.sequence;
  return { manifests: stored.map(publishedOf), ...(next === undefined ? {} : { next }) };
}

function publishedOf({ text, at }: StoredManifest): PublishedManifest {
  return { text, at };
}

async function find(engine: Engine, query: FindQuery, as: Viewer = "operator"): Promise<Found> {
  engine.assertOpen();
  return engine.search.find(query, engine.clock.now(), as);
}

async function view(engine: Engine, id: string, as: string): Promise<HandoffView | undefined> {
  engine.assertOpen();
  const found = await engine.records.load(id);
  return found === undefined || !isParty(found.record, as)
    ? undefined
    : viewOf(engine, found.record);
}

async function attach(
  engine: Engine,
  doorkeeper: HelloVerifier,
  request: AttachRequest & Pick<AttachingAgent, "show">,
  handler: (delivery: Delivery) => void,
): Promise<Attachment> {
  engine.assertOpen();
  checkAttachRequest(request);
  const { agent, instance, proof } = request;
  const { at: helloAt, kid } = await doorkeeper.check(proof, agent, instance, engine.clock.now());
  return attachAgent(engine, { ...request, helloAt, kids: [kid] }, handler);
}
