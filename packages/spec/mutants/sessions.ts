import type { Mutant } from "./mutant.ts";

const SESSION = "src/session.ts";
const HOLDER = "src/lifecycle/holder.ts";

export const SESSIONS: readonly Mutant[] = [
  {
    rule: "WB-220",
    file: SESSION,
    find: `/^[!-~]{1,128}$/`,
    replace: `/^[ -~]{1,128}$/`,
    why: "takes a session id with a space",
  },
  {
    rule: "WB-220",
    file: SESSION,
    find: `/^[!-~]{1,128}$/`,
    replace: `/^[!-~]{1,129}$/`,
    why: "takes a longer session id",
  },
  {
    rule: "WB-220",
    file: SESSION,
    find: `SESSION_WAIT_SECONDS = 86_400`,
    replace: `SESSION_WAIT_SECONDS = 86_401`,
    why: "waits longer than a day for the holder",
  },
  {
    rule: "WB-221",
    file: SESSION,
    find: "`waybill session 1\\n${principal}\\n${id}`",
    replace: "`waybill session 1\\n${id}`",
    why: "gives two delegators one conversation",
  },
  {
    rule: "WB-221",
    file: SESSION,
    find: "if (!isSessionId(id)) throw notASessionId();",
    replace: "",
    why: "makes a key of what is no session id",
  },
  {
    rule: "WB-222",
    file: HOLDER,
    find: `live.state === "offered" ? undefined : live.recipient`,
    replace: `live.recipient`,
    why: "takes whoever was only offered the handoff for the holder",
  },
  {
    rule: "WB-222",
    file: HOLDER,
    find: `if (state.state !== "open") return undefined;`,
    replace: ``,
    why: "takes the recipient of a handoff that has failed for the holder",
  },
  {
    rule: "WB-222",
    file: HOLDER,
    find: `FAILURES_OF_HOLDER = 2`,
    replace: `FAILURES_OF_HOLDER = 3`,
    why: "goes on with a holder that fails",
  },
  {
    rule: "WB-222",
    file: HOLDER,
    find: `closed !== "released" && closed !== "paused"`,
    replace: `closed !== "paused"`,
    why: "counts a release of the holder as a failure",
  },
  {
    rule: "WB-223",
    file: HOLDER,
    find: `return holder === recipient ? "continued" : "lost";`,
    replace: `return "continued";`,
    why: "tells nobody that the holder is gone",
  },
  {
    rule: "WB-223",
    file: HOLDER,
    find: `return offered === "begun" ? "begun" : "lost";`,
    replace: `return "begun";`,
    why: "says that a lost conversation has begun",
  },
  {
    rule: "WB-224",
    file: "src/lifecycle/transitions.ts",
    find: `countsAsTry: false,
    meaning: "the recipient gave it back, not now"`,
    replace: `countsAsTry: true,
    meaning: "the recipient gave it back, not now"`,
    why: "uses up a try while another turn of the conversation runs",
  },
];
