import type { Capability, CapabilityInput, Json } from "@waybill/protocol";
import type { WireWellKnown } from "@waybill/protocol/wire";
import { SchemaForm } from "../form/schema-form.tsx";
import { get } from "../hub/hub.ts";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { changeManifest, enrol } from "./person.ts";
import type { Person } from "./person.ts";

const LEASE_MINUTES = 5;
/** People take longer than programs, and close pages more often than programs crash. */
const TIMEOUT_SECONDS = 86_400;
const ATTEMPTS = 10;

const CAPABILITIES = {
  type: "array",
  title: "What others can hand you",
  maxItems: 20,
  items: {
    type: "object",
    title: "Capability",
    required: ["name"],
    properties: {
      name: {
        type: "string",
        title: "Name",
        maxLength: 64,
        description: "What others ask for, such as review.",
      },
      description: { type: "string", title: "Description", maxLength: 1_000 },
      output_schema: {
        title: "Form of the result",
        description: "A JSON Schema. You fill in its form when you deliver.",
      },
      lease_minutes: {
        type: "number",
        title: "Minutes that the hub waits for you after this page is closed",
        exclusiveMinimum: 0,
        maximum: 1_440,
        description: "Then it offers the work again.",
      },
    },
  },
} as const;

const REVIEW = {
  name: "review",
  description: "A person reads it and decides.",
  output_schema: {
    type: "object",
    required: ["approved"],
    properties: {
      approved: { type: "boolean", title: "Approve it?" },
      comment: { type: "string", title: "Comment" },
    },
  },
  lease_minutes: LEASE_MINUTES,
};

interface Described {
  readonly description?: string;
  readonly capabilities?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly output_schema?: Json;
    readonly lease_minutes?: number;
  }[];
}

interface Enrolled extends Described {
  readonly name: string;
  readonly invitation?: string;
}

const DESCRIPTION = { type: "string", title: "About you", maxLength: 1_000 } as const;

/** Makes a key in this browser and enrols it under a name. */
export function EnrolmentForm() {
  const { value: hub, problem } = useLoaded(
    (signal) => get<WireWellKnown>("/.well-known/waybill", signal),
    [],
  );
  if (hub === undefined) return <Problem>{problem}</Problem>;
  const isInvited = hub.newcomers === "invitation";
  const schema = {
    type: "object",
    required: isInvited ? ["name", "invitation"] : ["name"],
    properties: {
      name: {
        type: "string",
        title: "Your name at this hub",
        maxLength: 120,
        pattern: "^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$",
        description: "Of a-z, 0-9 and inner . _ -. It belongs to the key that registers it first.",
      },
      ...(isInvited && {
        invitation: {
          type: "string",
          title: "Invitation",
          maxLength: 120,
          description: "From an operator: waybill invite. It is never sent, and lets you in once.",
        },
      }),
      description: DESCRIPTION,
      capabilities: CAPABILITIES,
    },
  };
  return (
    <SchemaForm
      schema={schema}
      label="You"
      initial={{ capabilities: [REVIEW] }}
      submit="Make a key and enrol"
      send={async (value) => {
        const { name, invitation, ...described } = value as unknown as Enrolled;
        await enrol({ agent_id: name, ...manifestOf(described) }, invitation?.trim());
      }}
    />
  );
}

/** Publishes another description of the same person. */
export function ManifestForm({
  who,
  description,
  capabilities,
  done,
}: {
  readonly who: Person;
  readonly description: string | undefined;
  readonly capabilities: readonly Capability[];
  readonly done: () => Promise<void>;
}) {
  const initial = {
    ...(description !== undefined && { description }),
    capabilities: capabilities.map((each) => ({
      name: each.name,
      ...(each.description !== undefined && { description: each.description }),
      output_schema: each.output_schema as Json,
      lease_minutes: each.lease_seconds / 60,
    })),
  };
  return (
    <SchemaForm
      schema={{
        type: "object",
        properties: { description: DESCRIPTION, capabilities: CAPABILITIES },
      }}
      label="What you publish"
      initial={initial}
      submit="Publish"
      send={async (value) => {
        await changeManifest({ agent_id: who.agent, ...manifestOf(value as unknown as Described) });
        await done();
      }}
    />
  );
}

function manifestOf({ description, capabilities = [] }: Described) {
  return {
    ...(description !== undefined && { description }),
    capabilities: capabilities.map(
      ({ lease_minutes: minutes = LEASE_MINUTES, ...given }): CapabilityInput => ({
        ...given,
        lease_seconds: Math.ceil(minutes * 60),
        timeout_seconds: TIMEOUT_SECONDS,
        max_attempts: ATTEMPTS,
      }),
    ),
  };
}
