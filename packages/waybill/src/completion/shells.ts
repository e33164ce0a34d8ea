export const SHELLS = ["bash", "zsh", "fish"] as const;

/** What the scripts of the shells ask the running hub with; it is in no help. */
export const LIVE_COMMAND = "__complete";
