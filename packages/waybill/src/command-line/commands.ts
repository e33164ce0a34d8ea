import { SHELLS } from "../completion/shells.ts";
import type { Command, OptionSpec } from "./command.ts";

const HUB = ["hub", "token", "data"] as const;
const SERVED = [
  "host",
  "port",
  "no_socket",
  "database",
  "data",
  "hub_id",
  "public_url",
  "tls_cert",
  "tls_key",
  "behind_proxy",
  "allowed_hosts",
  "allowed_origins",
  "open_registry",
  "newcomers",
  "allowed",
  "operators",
  "peer",
  "inner_inboxes",
  "max_blob",
  "blob_space",
  "keep_blobs",
  "metrics_token",
  "log_level",
] as const;

const HANDING_OFF: readonly OptionSpec[] = [
  { name: "timeout", value: "<time>", says: "how long it may take: 30s, 5m, 2h (5m)" },
  {
    name: "answer",
    value: "<[id=]value>",
    isRepeated: true,
    says: "an answer to a question of the recipient, by its id or in order",
  },
  { name: "detach", says: "exit as soon as the hub has custody" },
  { name: "save", value: "<folder>", says: "save the files of the result in this folder" },
];

/** The whole command line: help, completions and parsing read only this table. */
export const COMMANDS: readonly Command[] = [
  {
    name: "dev",
    says: "Start a hub on this machine, and show where everything is.",
    settings: ["port", "data", "database", "no_socket"],
    examples: [
      {
        line: "waybill dev",
        says: "a hub on 127.0.0.1, with its files in .waybill; Ctrl-C stops it, nothing is lost",
      },
      {
        line: "waybill dev --port 0 --json",
        says: "on a free port; the first line of output names it",
      },
    ],
    load: async () => (await import("../commands/dev.ts")).run,
  },
  {
    name: "console",
    says: "Serve a hub's console from this machine, which shows what happens and checks every signature.",
    settings: HUB,
    options: [
      {
        name: "role",
        value: "<role>",
        says: "operator, or reader: may see everything and change nothing (operator)",
      },
    ],
    examples: [
      {
        line: "waybill console",
        says: "prints a link that signs in once; Ctrl-C stops serving the page",
      },
      {
        line: "waybill console --role reader --hub https://hub.example.org",
        says: "the page comes from your machine, so a dishonest hub can't change it",
      },
    ],
    load: async () => (await import("../commands/console.ts")).run,
  },
  {
    name: "hub",
    says: "Start a hub that others can reach.",
    settings: SERVED,
    examples: [
      {
        line: "waybill hub --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem",
        says: "on all addresses of this machine, with TLS",
      },
      {
        line: "waybill hub --behind-proxy --public-url https://hub.example.org",
        says: "on loopback, behind a proxy that does TLS",
      },
      {
        line: "waybill hub --peer https://hub.example.org",
        says: "also offers what the agents of that hub can do",
      },
    ],
    load: async () => (await import("../commands/hub.ts")).run,
  },
  {
    name: "agents",
    says: "List the agents: who is connected, and what each can do.",
    arguments: [
      {
        name: "agent",
        says: "one agent, with its manifest",
        isOptional: true,
        completes: "agents",
      },
    ],
    options: [{ name: "limit", value: "<number>", says: "list at most this many (1000)" }],
    settings: HUB,
    examples: [
      { line: "waybill agents", says: "all of them" },
      { line: "waybill agents anna --json", says: "one, with its manifest" },
    ],
    load: async () => (await import("../commands/agents.ts")).run,
  },
  {
    name: "agents allow",
    says: "Let an agent, or a key, enrol at the hub without an invitation.",
    arguments: [{ name: "who", says: "an agent's id, or the thumbprint of a key" }],
    settings: HUB,
    examples: [
      {
        line: "waybill agents allow anna",
        says: "the first agent with this id may enrol; the thumbprint of its key is safer",
      },
    ],
    load: async () => (await import("../commands/agents-allow.ts")).run,
  },
  {
    name: "agents pin",
    says: "Give a new key to an agent that lost its keys or was retired.",
    arguments: [
      { name: "agent", says: "the agent's id", completes: "agents" },
      { name: "key", says: "the thumbprint of the new key" },
    ],
    settings: HUB,
    examples: [
      {
        line: "waybill agents pin anna NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
        says: "ends the old keys; anna signs its next manifest with this one",
      },
    ],
    load: async () => (await import("../commands/agents-pin.ts")).run,
  },
  {
    name: "agents retire",
    says: "Retire an agent: its keys are refused, and it takes no work.",
    arguments: [{ name: "agent", says: "the agent's id", completes: "agents" }],
    settings: HUB,
    examples: [
      {
        line: "waybill agents retire anna",
        says: "work that waits for anna goes to others or ends; agents pin brings anna back",
      },
    ],
    load: async () => (await import("../commands/agents-retire.ts")).run,
  },
  {
    name: "agents rotate",
    says: "Replace the keys of an agent, using its recovery key.",
    arguments: [{ name: "agent", says: "the agent's id", completes: "agents" }],
    options: [
      { name: "from-recovery", value: "<file>", says: "the agent's recovery key" },
      {
        name: "new-key",
        value: "<file>",
        says: "where the new key is, or is to be (<agent>.key)",
      },
    ],
    settings: HUB,
    examples: [
      {
        line: "waybill agents rotate anna --from-recovery anna.recovery",
        says: "makes anna.key, and publishes it; needs no operator",
      },
    ],
    load: async () => (await import("../commands/agents-rotate.ts")).run,
  },
  {
    name: "groups list",
    says: "List the groups of agents, or the members of one.",
    arguments: [
      { name: "group", says: "one group, with all members", isOptional: true, completes: "groups" },
    ],
    settings: HUB,
    examples: [
      { line: "waybill groups list", says: "all of them, with their quotas" },
      { line: "waybill groups list partners", says: "the members of one" },
    ],
    load: async () => (await import("../commands/groups-list.ts")).run,
  },
  {
    name: "groups add",
    says: "Add agents to a group that capabilities can name in `from`.",
    arguments: [
      {
        name: "group",
        says: "the group; created if it does not exist",
        completes: "groups-and-agents",
      },
      { name: "agent", says: "the agents to add", isRepeated: true },
    ],
    settings: HUB,
    examples: [
      {
        line: "waybill groups add partners anna ben",
        says: "capabilities that take work from partners now take it from both",
      },
    ],
    load: async () => (await import("../commands/groups-add.ts")).run,
  },
  {
    name: "groups remove",
    says: "Remove agents from a group, or remove the group.",
    arguments: [
      { name: "group", says: "the group", completes: "groups-and-agents" },
      {
        name: "agent",
        says: "the agents to remove; without any, the group and its quota",
        isOptional: true,
        isRepeated: true,
      },
    ],
    settings: HUB,
    examples: [
      { line: "waybill groups remove partners ben", says: "only ben" },
      { line: "waybill groups remove partners", says: "the group and its quota" },
    ],
    load: async () => (await import("../commands/groups-remove.ts")).run,
  },
  {
    name: "groups quota",
    says: "Limit the handoffs of all members of a group together.",
    arguments: [{ name: "group", says: "the group", completes: "groups" }],
    options: [
      { name: "open", value: "<number>", says: "handoffs that they have open at once" },
      { name: "per-minute", value: "<number>", says: "handoffs that they submit in a minute" },
      { name: "lift", says: "remove the quota" },
    ],
    settings: HUB,
    examples: [
      {
        line: "waybill groups quota partners --open 20 --per-minute 100",
        says: "more handoffs are refused with 301, to be tried again later",
      },
      { line: "waybill groups quota partners --lift", says: "no limit any longer" },
    ],
    load: async () => (await import("../commands/groups-quota.ts")).run,
  },
  {
    name: "invite",
    says: "Invite one agent to enrol at the hub, once.",
    options: [
      { name: "agent", value: "<id>", says: "only for this agent (for any)" },
      { name: "expires", value: "<time>", says: "how long it is valid: 30m, 2h, 7d (1h)" },
    ],
    settings: HUB,
    examples: [
      {
        line: "waybill invite --agent anna",
        says: "prints the invitation, and how to start anna with it",
      },
      {
        line: "waybill invite --quiet > anna.invitation",
        says: "writes only the invitation, for WAYBILL_INVITATION",
      },
    ],
    load: async () => (await import("../commands/invite.ts")).run,
  },
  {
    name: "invitations list",
    says: "List the invitations: open, used and expired.",
    settings: HUB,
    examples: [{ line: "waybill invitations list", says: "without the secrets" }],
    load: async () => (await import("../commands/invitations-list.ts")).run,
  },
  {
    name: "invitations revoke",
    says: "Revoke an invitation that nobody has used.",
    arguments: [{ name: "invitation", says: "the id of the invitation", completes: "invitations" }],
    settings: HUB,
    examples: [
      {
        line: "waybill invitations revoke N3kL0pQ7rS9tUvWxYz12Ab",
        says: "nobody can enrol with it any longer",
      },
    ],
    load: async () => (await import("../commands/invitations-revoke.ts")).run,
  },
  {
    name: "find",
    says: "Find agents for a capability, best first, and see why others do not fit.",
    arguments: [
      {
        name: "capability",
        says: "the capability, or plain words with --words",
        isOptional: true,
        completes: "capabilities",
      },
    ],
    options: [
      {
        name: "input",
        value: "<json>",
        says: "the input that must be accepted; @file reads a file, - reads stdin",
      },
      { name: "version", value: "<version>", says: "the capability's version" },
      {
        name: "tag",
        value: "<tag>",
        isRepeated: true,
        says: "a tag that the capability must have",
      },
      { name: "within", value: "<time>", says: "how long it may take: 30s, 5m" },
      { name: "min-reliability", value: "<0..1>", says: "the minimum measured reliability" },
      {
        name: "words",
        value: "<text>",
        says: "search names, descriptions and tags",
      },
      { name: "limit", value: "<number>", says: "consider at most this many capabilities (1000)" },
    ],
    settings: HUB,
    examples: [
      { line: "waybill find web_research --within 5m", says: "agents that do it in time" },
      { line: 'waybill find --words "read the web"', says: "when you do not know the name" },
    ],
    load: async () => (await import("../commands/find.ts")).run,
  },
  {
    name: "send",
    says: "Hand work off, show its progress, and print the result.",
    arguments: [
      { name: "capability", says: "the capability to use", completes: "capabilities" },
      {
        name: "input",
        says: "its input as JSON; @file reads a file, - reads stdin",
        isOptional: true,
        completes: "file",
      },
    ],
    options: [
      {
        name: "to",
        value: "<agent>",
        says: "the recipient; by default the hub picks one that fits",
      },
      { name: "brief", value: "<text>", says: "the work in words, for agents that take a task" },
      { name: "message", value: "<text>", isRepeated: true, says: "a message of a conversation" },
      {
        name: "file",
        value: "<path>",
        isRepeated: true,
        says: "a file that goes along; large ones are uploaded first",
      },
      { name: "version", value: "<version>", says: "the capability's version" },
      { name: "tag", value: "<tag>", isRepeated: true, says: "a tag that the recipient must have" },
      { name: "attempts", value: "<number>", says: "the maximum number of attempts" },
      { name: "lease", value: "<time>", says: "how long an attempt may stay silent" },
      {
        name: "not-before",
        value: "<time>",
        says: "start no earlier: in 30m or 2h, or at 2026-11-18T07:45:00Z",
      },
      {
        name: "priority",
        value: "<0-9>",
        says: "its priority among waiting work, 9 the most urgent (4)",
      },
      {
        name: "session",
        value: "<id>",
        says: "the conversation that it belongs to: the agent that holds it is preferred",
      },
      {
        name: "session-wait",
        value: "<time>",
        says: "how long to wait for that agent before another takes it (0s)",
      },
      { name: "correlation", value: "<id>", says: "the id of the job it belongs to" },
      {
        name: "handoff",
        value: "<id>",
        says: "the handoff id to use; the same id again finds the same work",
      },
      ...HANDING_OFF,
    ],
    settings: [...HUB, "agent", "key"],
    examples: [
      {
        line: `waybill send web_research '{"topic":"waybills"}' --timeout 2m`,
        says: "waits, and prints the output; Ctrl-C cancels it",
      },
      {
        line: "waybill send review @draft.json --to anna --answer approve=true --json",
        says: "to one agent, with an answer given in advance, one line of JSON for each stage",
      },
      {
        line: "waybill send transcribe --file interview.wav --save out",
        says: "with a file, and saves the files of the result",
      },
    ],
    load: async () => (await import("../commands/send.ts")).run,
  },
  {
    name: "watch",
    says: "Show every entry of the ledger as it is written.",
    options: [
      {
        name: "after",
        value: "<number>",
        says: "start after the entry with this number (the newest)",
      },
      { name: "correlation", value: "<id>", says: "only this job" },
    ],
    settings: HUB,
    examples: [
      { line: "waybill watch", says: "until Ctrl-C" },
      {
        line: "waybill watch --after 0 --json",
        says: "from the beginning, one line of JSON for each entry",
      },
    ],
    load: async () => (await import("../commands/watch.ts")).run,
  },
  {
    name: "trace",
    says: "Show the history of a job, and verify its signatures.",
    arguments: [
      {
        name: "id",
        says: "a correlation id, or the id of one of its handoffs",
        completes: "handoffs",
      },
    ],
    settings: HUB,
    examples: [
      { line: "waybill trace 01993a5e-7c1e-7b3a-9a53-0c9b6d3f1a2e", says: "as a tree" },
      { line: "waybill trace 01993a5e-7c1e-7b3a-9a53-0c9b6d3f1a2e --json", says: "as JSON" },
    ],
    load: async () => (await import("../commands/trace.ts")).run,
  },
  {
    name: "dead-letters list",
    says: "List the handoffs that ended without a result from their recipient.",
    options: [{ name: "limit", value: "<number>", says: "list at most this many (100)" }],
    settings: HUB,
    examples: [
      { line: "waybill dead-letters list", says: "those that nobody has replayed or discarded" },
    ],
    load: async () => (await import("../commands/dead-letters-list.ts")).run,
  },
  {
    name: "dead-letters show",
    says: "Show one dead letter, with its attempts and its history.",
    arguments: [{ name: "id", says: "the id of the handoff", completes: "dead-letters" }],
    settings: HUB,
    examples: [
      {
        line: "waybill dead-letters show 01993a5e-7c1e-7b3a-9a53-0c9b6d3f1a2e",
        says: "why it ended",
      },
    ],
    load: async () => (await import("../commands/dead-letters-show.ts")).run,
  },
  {
    name: "dead-letters replay",
    says: "Hand a dead letter off again, and print the result.",
    arguments: [{ name: "id", says: "the id of the handoff", completes: "dead-letters" }],
    options: [{ name: "to", value: "<agent>", says: "to this agent instead" }, ...HANDING_OFF],
    settings: [...HUB, "agent", "key"],
    examples: [
      {
        line: "waybill dead-letters replay 01993a5e-7c1e-7b3a-9a53-0c9b6d3f1a2e --timeout 10m",
        says: "with ten minutes; it stays part of the same job",
      },
    ],
    load: async () => (await import("../commands/dead-letters-replay.ts")).run,
  },
  {
    name: "dead-letters discard",
    says: "Remove a dead letter from the list; it stays in the ledger, with the reason.",
    arguments: [
      { name: "id", says: "the id of the handoff", completes: "dead-letters" },
      { name: "reason", says: "why nobody needs it any more" },
    ],
    settings: HUB,
    examples: [
      {
        line: "waybill dead-letters discard 01993a5e-7c1e-7b3a-9a53-0c9b6d3f1a2e 'sent twice'",
        says: "when it is no longer needed",
      },
    ],
    load: async () => (await import("../commands/dead-letters-discard.ts")).run,
  },
  {
    name: "ledger export",
    says: "Print the ledger as NDJSON, every envelope as it was signed.",
    options: [
      { name: "after", value: "<number>", says: "start after this entry (0)" },
      { name: "from-hub", says: "read from the hub's API instead of the local database" },
    ],
    settings: ["database", ...HUB],
    examples: [
      {
        line: "waybill ledger export > ledger.ndjson",
        says: "from the database, whether its hub runs or not",
      },
      { line: "waybill ledger export --from-hub | jq .type", says: "through the API of the hub" },
    ],
    load: async () => (await import("../commands/ledger-export.ts")).run,
  },
  {
    name: "ledger verify",
    says: "Verify a ledger: no entry was changed, removed or moved.",
    arguments: [
      {
        name: "file",
        says: "an export, a database, or - for stdin (--database)",
        isOptional: true,
        completes: "file",
      },
    ],
    options: [
      {
        name: "checkpoint",
        value: "<file>",
        says: "a signed checkpoint; also detects entries missing at the end",
      },
    ],
    settings: ["database", "data"],
    examples: [
      { line: "waybill ledger verify", says: "the database of the hub here, also while it runs" },
      {
        line: "waybill ledger verify ledger.ndjson --checkpoint yesterday.jws",
        says: "an export, against a checkpoint of yesterday",
      },
    ],
    load: async () => (await import("../commands/ledger-verify.ts")).run,
  },
  {
    name: "ledger checkpoint",
    says: "Print the hub's signed statement of where its ledger ends.",
    settings: HUB,
    examples: [
      { line: "waybill ledger checkpoint > yesterday.jws", says: "for a later `ledger verify`" },
    ],
    load: async () => (await import("../commands/ledger-checkpoint.ts")).run,
  },
  {
    name: "backup",
    says: "Copy the database of a hub, also while the hub runs.",
    arguments: [
      {
        name: "file",
        says: "the new file; existing files are never overwritten",
        completes: "file",
      },
    ],
    settings: ["database", "data"],
    examples: [
      { line: "waybill backup backups/monday.db", says: "the copy is checked after it is written" },
    ],
    load: async () => (await import("../commands/backup.ts")).run,
  },
  {
    name: "restore",
    says: "Restore the database of a stopped hub from a backup.",
    arguments: [{ name: "file", says: "the backup", completes: "file" }],
    options: [{ name: "replace", says: "move an existing database aside" }],
    settings: ["database", "data"],
    examples: [
      {
        line: "waybill restore backups/monday.db --replace",
        says: "the old database is kept next to it",
      },
    ],
    load: async () => (await import("../commands/restore.ts")).run,
  },
  {
    name: "keys new",
    says: "Create a key for an agent, in a file that only its owner can read.",
    arguments: [{ name: "file", says: "the new file", completes: "file" }],
    examples: [{ line: "waybill keys new anna.key", says: "prints the public key" }],
    load: async () => (await import("../commands/keys.ts")).runNew,
  },
  {
    name: "keys recovery",
    says: "Create the recovery key of an agent, to be kept offline.",
    arguments: [{ name: "file", says: "the file of the recovery key", completes: "file" }],
    options: [{ name: "for", value: "<agent>", says: "the agent whose name it recovers" }],
    examples: [
      {
        line: "waybill keys recovery anna.recovery --for anna",
        says: "prints what anna lists in its manifest",
      },
    ],
    load: async () => (await import("../commands/keys.ts")).runRecovery,
  },
  {
    name: "keys show",
    says: "Show the public part of a key, as a manifest lists it.",
    arguments: [{ name: "file", says: "a key file", completes: "file" }],
    options: [
      {
        name: "for",
        value: "<agent>",
        says: "also print the proof that this agent holds the key",
      },
    ],
    examples: [
      { line: "waybill keys show anna.key --json", says: "as a public JWK" },
      {
        line: "waybill keys show next.key --for anna",
        says: "for a manifest signed with the old key",
      },
    ],
    load: async () => (await import("../commands/keys.ts")).runShow,
  },
  {
    name: "keys thumbprint",
    says: "Show the RFC 7638 thumbprint of a key.",
    arguments: [
      { name: "file", says: "a key file or a public JWK, or - for stdin", completes: "file" },
    ],
    examples: [{ line: "waybill keys thumbprint anna.key", says: "one line" }],
    load: async () => (await import("../commands/keys.ts")).runThumbprint,
  },
  {
    name: "manifest check",
    says: "Check a manifest, signed or not, and show what it says.",
    arguments: [
      { name: "file", says: "JSON, or a signed manifest; - for stdin", completes: "file" },
    ],
    options: [
      {
        name: "previous",
        value: "<file>",
        says: "the signed manifest that this one must follow",
      },
    ],
    examples: [{ line: "waybill manifest check anna.json", says: "with every default filled in" }],
    load: async () => (await import("../commands/manifest.ts")).runCheck,
  },
  {
    name: "manifest sign",
    says: "Sign a manifest, to be published at a hub.",
    arguments: [{ name: "file", says: "JSON; - for stdin", completes: "file" }],
    options: [
      { name: "with", value: "<file>", says: "the key file to sign with" },
      {
        name: "previous",
        value: "<file>",
        says: "the signed manifest that this one follows",
      },
    ],
    examples: [
      {
        line: "waybill manifest sign anna.json --with anna.key > anna.jws",
        says: "its first manifest",
      },
    ],
    load: async () => (await import("../commands/manifest.ts")).runSign,
  },
  {
    name: "doctor",
    says: "Check the setup of a hub, and say how to fix what is wrong.",
    settings: ["hub", "token", "agent", "key", ...SERVED],
    examples: [{ line: "waybill doctor", says: "also shows where each setting comes from" }],
    load: async () => (await import("../commands/doctor.ts")).run,
  },
  {
    name: "completion",
    says: "Print the completion script for a shell.",
    arguments: [{ name: "shell", says: SHELLS.join(", "), completes: SHELLS }],
    examples: [{ line: "source <(waybill completion bash)", says: "for this shell" }],
    load: async () => (await import("../commands/completion.ts")).run,
  },
];
