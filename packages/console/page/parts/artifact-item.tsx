import { digestOfBytes, runningDigest, WaybillError } from "@waybill/protocol";
import type { Artifact } from "@waybill/protocol";
import { fromBase64url } from "@waybill/protocol/wire";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes as bytesOf } from "../hub/hub.ts";
import { isImageOf, isShownImage } from "./image-type.ts";
import { Text, visible } from "./text.tsx";

/** A blob is held in the page's memory while it is checked. */
const BLOB_BYTES = 256 * 1024 * 1024;
/** Larger images are saved and not shown. */
const IMAGE_BYTES = 16 * 1024 * 1024;

/** A file: shown if it is an image, and saved otherwise. Its digest is checked here first. */
export function ArtifactItem({ artifact }: { readonly artifact: Artifact }) {
  const { name, media_type: type, digest, data, url, size } = artifact;
  const inline = useMemo(() => {
    const bytes = data === undefined ? undefined : fromBase64url(data);
    return bytes === undefined ? undefined : { bytes, holds: digestOfBytes(bytes) === digest };
  }, [data, digest]);
  const [loaded, setLoaded] = useState<Content | undefined>();
  const content = inline ?? loaded;
  return (
    <li>
      <strong>
        <Text value={name} />
      </strong>{" "}
      <small>
        <Text value={type} />
      </small>
      {url !== undefined && (
        <p>
          at <Text value={url} />
        </p>
      )}
      {size !== undefined && data === undefined && (
        <BlobLoader
          artifact={artifact}
          size={size}
          isLoaded={loaded !== undefined}
          load={setLoaded}
        />
      )}
      {content !== undefined && <Shown artifact={artifact} content={content} />}
    </li>
  );
}

interface Content {
  readonly bytes: Uint8Array;
  /** Whether it has the digest that was signed. */
  readonly holds: boolean;
}

function Shown({
  artifact: { name, media_type: type },
  content: { bytes, holds },
}: {
  readonly artifact: Artifact;
  readonly content: Content;
}) {
  const isImage = holds && bytes.length <= IMAGE_BYTES && isImageOf(type, bytes);
  // Anything else is only ever saved: as a page, a file of an agent could act for whoever opens it.
  const source = useObjectUrl(
    holds ? bytes : undefined,
    isImage ? type : "application/octet-stream",
  );
  if (!holds) return <span class="mark bad"> ✗ these are not the bytes that were signed</span>;
  return (
    <>
      <span class="mark good"> ✓ its digest holds</span>
      {isShownImage(type) && !isImage && (
        <p class="note">
          {bytes.length > IMAGE_BYTES
            ? "It is too large to be shown here."
            : `Its content is not ${visible(type)}, so it is not shown.`}
        </p>
      )}
      {source !== undefined && isImage && <img src={source} alt={`Artifact ${visible(name)}`} />}{" "}
      {source !== undefined && (
        <a href={source} download={safeName(name)}>
          Save <span class="unseen">{visible(name)}</span>
        </a>
      )}
    </>
  );
}

/** Loads a blob when it is asked to: it may be large. */
function BlobLoader({
  artifact: { name, digest },
  size,
  isLoaded,
  load,
}: {
  readonly artifact: Artifact;
  readonly size: number;
  readonly isLoaded: boolean;
  readonly load: (content: Content) => void;
}) {
  const [received, setReceived] = useState<number | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const start = async () => {
    const control = new AbortController();
    stop.current = control;
    setProblem(undefined);
    setReceived(0);
    try {
      load(await read({ digest, size }, control.signal, setReceived));
    } catch (error) {
      if (control.signal.aborted) return;
      setReceived(undefined);
      setProblem(WaybillError.from(error).message);
    }
  };
  return (
    <p>
      {size.toLocaleString("en")} bytes, kept by the hub.{" "}
      {size > BLOB_BYTES ? (
        "This is too large to be checked in a browser; its parties can read it with an SDK."
      ) : isLoaded ? null : received === undefined ? (
        <button type="button" onClick={() => void start()}>
          Load and check <span class="unseen">{visible(name)}</span>
        </button>
      ) : (
        <progress
          aria-label={`Loading ${visible(name)}`}
          max={Math.max(1, size)}
          value={received}
        />
      )}
      {problem !== undefined && (
        <span class="problem" role="alert">
          {visible(problem)}
        </span>
      )}
    </p>
  );
}

async function read(
  { digest, size }: { readonly digest: Artifact["digest"]; readonly size: number },
  signal: AbortSignal,
  progressed: (received: number) => void,
): Promise<Content> {
  const running = runningDigest();
  const all = new Uint8Array(size);
  let received = 0;
  for await (const piece of bytesOf(`/v1/blobs/${digest}`, signal)) {
    // A hub that sends more than was signed for gets no more memory.
    if (received + piece.length > size) return { bytes: all, holds: false };
    all.set(piece, received);
    running.update(piece);
    progressed((received += piece.length));
  }
  return { bytes: all, holds: received === size && running.digest() === digest };
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
