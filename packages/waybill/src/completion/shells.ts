export const SHELLS = ["bash", "zsh", "fish"] as const;

/** The hidden command with which the completion scripts query the running hub. */
export const LIVE_COMMAND = "__complete";
