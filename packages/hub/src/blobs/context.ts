import type { Clock } from "@waybill/protocol/wire";
import type { HubLimits } from "../engine/options.ts";
import type { Store } from "../store.ts";
import type { BlobStore } from "./blob-store.ts";
import type { BegunUpload, BlobShares } from "./shares.ts";

/** What the parts of a hub that deal with blobs share. */
export interface BlobContext {
  readonly store: Store;
  readonly files: BlobStore;
  readonly writer: Pick<Store, "commit">;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly limits: HubLimits;
  readonly shares: BlobShares;
  /** Something is due at this time. */
  readonly due: (at: number) => void;
  /** Ends an upload that is complete and that no envelope names; false where it goes on. */
  readonly release: (upload: BegunUpload) => Promise<boolean>;
  /** Counts received bytes. */
  readonly received: (bytes: number) => void;
}
