/// <reference types="node" />
import { registerHooks } from "node:module";
import type { Mutant } from "./mutant.ts";

const ROOT = new URL("../../../../", import.meta.url).href;
/** Modules loaded with this suffix, and everything that they import, stay unchanged. */
const SOUND = "?sound";

/**
 * Loads the sources with a bug in them, from now on and in this thread only. The judge is loaded with
 * `?sound` and gets sound copies of everything: a broken reducer must not judge itself.
 */
export function plant({ name, patches }: Mutant): void {
  const planted = new Set<string>();
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const isSound = context.parentURL?.endsWith(SOUND) === true;
      const isOurs = resolved.url.startsWith(ROOT) && !resolved.url.includes("?");
      return isSound && isOurs ? { ...resolved, url: resolved.url + SOUND } : resolved;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      const own = patches.filter(({ file }) => ROOT + file === url);
      if (own.length === 0) return loaded;
      let source = textOf(loaded.source);
      for (const { file, find, replace } of own) {
        if (source.split(find).length !== 2) {
          throw new Error(
            `The planted bug ${name} does not fit any more: its text does not occur exactly once in ${file}. Bring it up to date in src/mutants.`,
          );
        }
        source = source.replace(find, () => replace);
        planted.add(file);
      }
      return { ...loaded, source };
    },
  });
}

function textOf(source: unknown): string {
  return typeof source === "string" ? source : new TextDecoder().decode(source as Uint8Array);
}
