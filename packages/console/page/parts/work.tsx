import { digestOfBytes } from "@waybill/protocol";
import type { Artifact, HandoffBody, Message, ResultBody } from "@waybill/protocol";
import { fromBase64url } from "@waybill/protocol/wire";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Json, Text } from "./text.tsx";

type Body = Partial<HandoffBody & ResultBody>;

/** What is handed off, or what came back: in every form that it has. */
export function Work({ title, body }: { readonly title: string; readonly body: Body }) {
  const { input, output, brief, messages, artifacts, contract, error, usage, effects } = body;
  const id = title.toLowerCase();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {error !== undefined && (
        <p class="problem">
          <Text value={error.message} />
        </p>
      )}
      {effects !== undefined && <p>Effects outside: {effects}</p>}
      {brief !== undefined && (
        <blockquote>
          <p>
            <Text value={brief.instruction} />
          </p>
          {brief.expected_output !== undefined && (
            <p>
              Expected: <Text value={brief.expected_output} />
            </p>
          )}
        </blockquote>
      )}
      {input !== undefined && <Json label="Input" value={input} />}
      {output !== undefined && <Json label="Output" value={output} />}
      {messages !== undefined && <Conversation messages={messages} />}
      {artifacts !== undefined && artifacts.length > 0 && (
        <ul class="artifacts">
          {artifacts.map((artifact, index) => (
            <ArtifactItem key={index} artifact={artifact} />
          ))}
        </ul>
      )}
      {contract !== undefined && (
        <>
          <h3>Contract</h3>
          <Json label="Contract" value={contract} />
        </>
      )}
      {usage !== undefined && (
        <>
          <h3>Usage</h3>
          <Json label="Usage" value={usage} />
        </>
      )}
    </section>
  );
}

function Conversation({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <ol class="conversation" aria-label="Conversation">
      {messages.map(({ role, name, content }, index) => (
        <li key={index} class={role}>
          <strong>
            {role}
            {name !== undefined && (
              <>
                {" "}
                <Text value={name} />
              </>
            )}
          </strong>
          {content.map((part, place) =>
            typeof part.text === "string" ? (
              <p key={place}>
                <Text value={part.text} />
              </p>
            ) : (
              <Json key={place} label={`A part of the type ${part.type}`} value={part} />
            ),
          )}
        </li>
      ))}
    </ol>
  );
}

/** Types that a browser draws without running anything. */
const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function ArtifactItem({ artifact }: { readonly artifact: Artifact }) {
  const { name, media_type: type, digest, data, url, size } = artifact;
  const bytes = useMemo(() => (data === undefined ? undefined : fromBase64url(data)), [data]);
  const holds = bytes !== undefined && digestOfBytes(bytes) === digest;
  const isImage = IMAGES.has(type);
  // Anything else is only ever saved: as a page, a file of an agent could act for whoever opens it.
  const source = useObjectUrl(
    holds ? bytes : undefined,
    isImage ? type : "application/octet-stream",
  );
  return (
    <li>
      <strong>
        <Text value={name} />
      </strong>{" "}
      <small>
        <Text value={type} />
      </small>
      {bytes !== undefined &&
        (holds ? (
          <span class="mark good"> ✓ its digest holds</span>
        ) : (
          <span class="mark bad"> ✗ these are not the bytes that were signed</span>
        ))}
      {url !== undefined && (
        <p>
          at <Text value={url} />
        </p>
      )}
      {size !== undefined && (
        <p>{size.toLocaleString("en")} bytes, kept by the hub for its parties</p>
      )}
      {source !== undefined && isImage && <img src={source} alt="" />}
      {source !== undefined && (
        <a href={source} download={safeName(name)}>
          Save
        </a>
      )}
    </li>
  );
}

function useObjectUrl(bytes: Uint8Array | undefined, type: string): string | undefined {
  const [url, setUrl] = useState<string | undefined>();
  useEffect(() => {
    if (bytes === undefined) return undefined;
    const made = URL.createObjectURL(new Blob([bytes as BlobPart], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  return url;
}

function safeName(name: string): string {
  return name.replaceAll(/[^\w.-]+/g, "_").slice(-80);
}
