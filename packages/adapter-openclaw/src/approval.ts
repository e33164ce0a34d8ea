import { APPROVAL, approvalIn } from "@waybill/agent/adapter";
import type { Run } from "@waybill/agent/adapter";
import type { Gateway } from "./gateway.ts";

/** A command that waits for somebody's approval, as the gateway keeps it. */
export interface ApprovalRecord {
  readonly id: string;
  readonly request: {
    readonly command: string;
    readonly cwd?: string | null | undefined;
    readonly runId?: string | null | undefined;
  };
}

/** Asks the delegator for the approval, for this one time, and tells the gateway the decision. */
export async function relayApproval(
  gateway: Gateway,
  { id, request: { command, cwd } }: ApprovalRecord,
  ask: Run["ask"],
): Promise<void> {
  const answer = await ask({
    id: `approval-${id}`,
    text: `May the agent run this command?\n${command}`,
    data: { tool: "exec", arguments: { command, ...(cwd == null ? {} : { cwd }) } },
    schema: APPROVAL,
  });
  const decision = approvalIn(answer).approved ? "allow-once" : "deny";
  await gateway.request("exec.approval.resolve", { id, decision });
}
