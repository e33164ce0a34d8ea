import { signal } from "@preact/signals";

/** What has changed by itself, for whoever does not see it change. */
export const announcement = signal("");
/** How much waits for the person at this page. */
export const waitingForPerson = signal(0);

/** Says something once, politely. */
export function announce(text: string): void {
  announcement.value = text;
}
