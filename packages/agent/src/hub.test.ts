import type * as served from "@waybill/hub";
import { expectTypeOf, test } from "vitest";
import type {
  Attachment,
  AttachRequest,
  Blobs,
  Delivery,
  HandoffView,
  Hub,
  PublishedManifest,
} from "@waybill/protocol/wire";

// Neither package may import the other outside of its tests, so each declares these types itself.
test("the hub interfaces of the agent and the hub package are the same type", () => {
  expectTypeOf<Hub>().toEqualTypeOf<served.Hub>();
  expectTypeOf<AttachRequest>().toEqualTypeOf<served.AttachRequest>();
  expectTypeOf<Attachment>().toEqualTypeOf<served.Attachment>();
  expectTypeOf<Blobs>().toEqualTypeOf<served.Blobs>();
  expectTypeOf<PublishedManifest>().toEqualTypeOf<served.PublishedManifest>();
  expectTypeOf<Delivery>().toEqualTypeOf<served.Delivery>();
  expectTypeOf<HandoffView>().toEqualTypeOf<served.HandoffView>();
});
