/** One check and its outcome. */
export interface Finding {
  readonly name: string;
  readonly verdict: "ok" | "warning" | "wrong" | "skipped";
  readonly says: string;
  /** What to do, if it is not ok. */
  readonly todo?: string;
}

export function ok(name: string, says: string): Finding {
  return { name, verdict: "ok", says };
}

export function skipped(name: string, says: string): Finding {
  return { name, verdict: "skipped", says };
}

export function warning(name: string, says: string, todo: string): Finding {
  return { name, verdict: "warning", says, todo };
}

export function wrong(name: string, says: string, todo: string): Finding {
  return { name, verdict: "wrong", says, todo };
}
