/// <reference types="node" />
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export interface Certified {
  /** The hub's arguments. */
  readonly arguments: readonly string[];
  /** The environment of processes that trust it. */
  readonly environment: Record<string, string>;
}

/** A certificate for 127.0.0.1, made for one run. */
export function certificate(folder: string): Certified {
  const cert = join(folder, "cert.pem");
  const key = join(folder, "key.pem");
  const words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
  const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", [...words.split(" "), ...names, "-keyout", key, "-out", cert], {
    stdio: "ignore",
  });
  return {
    arguments: ["--tls-cert", cert, "--tls-key", key],
    environment: { NODE_EXTRA_CA_CERTS: cert },
  };
}
