import { signal } from "@preact/signals";
import { visible } from "../parts/text.tsx";

const KEPT = "waybill-notifications";
const CHARACTERS = 200;

/** Whether the browser shows what arrives while this page is in the background. */
export const notifies = signal(localStorage.getItem(KEPT) === "on");

/** Asks for permission, which browsers grant only after a click. Says why there is none. */
export async function turnOnNotifications(): Promise<string | undefined> {
  if (!("Notification" in globalThis)) return "This browser has no notifications.";
  if ((await Notification.requestPermission()) !== "granted") {
    return "The browser does not allow notifications of this page. Allow them in its settings for this address.";
  }
  localStorage.setItem(KEPT, "on");
  notifies.value = true;
  return undefined;
}

/** Shows no more notifications. */
export function turnOffNotifications(): void {
  localStorage.removeItem(KEPT);
  notifies.value = false;
}

/** Shows a notification, if the person wants them and does not look at the page. */
export function notify(text: string): void {
  if (!notifies.value || document.hasFocus() || Notification.permission !== "granted") return;
  const shown = new Notification("Waybill", { body: visible(text).slice(0, CHARACTERS) });
  shown.addEventListener("click", () => {
    window.focus();
    location.hash = "#/inbox";
  });
}
