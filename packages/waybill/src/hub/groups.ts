import { WaybillError } from "@waybill/protocol";
import type { HubClient } from "./client.ts";
import { suggestion } from "./known.ts";

/** Makes a request about a group. If the group does not exist, the error suggests a similar name. */
export async function groupNamed<Answer>(
  hub: HubClient,
  name: string,
  ask: (path: string) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask(`/v1/groups/${encodeURIComponent(name)}`);
  } catch (error) {
    if (!WaybillError.is(error, 404)) throw error;
    const near = await suggestion(hub, "groups", name);
    throw new WaybillError(
      404,
      `There is no group ${JSON.stringify(name)} at ${hub.url}.${near} To list the groups: waybill groups list`,
      { cause: error },
    );
  }
}
