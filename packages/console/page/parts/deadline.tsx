import { durationText, Time, useNow } from "./text.tsx";

const SOON_MS = 60_000;

/** When something has to be done, and how long that is from now. */
export function Deadline({ at, isOpen }: { readonly at: number; readonly isOpen: boolean }) {
  const current = useNow();
  const left = at - current;
  return (
    <>
      <Time at={at} />
      {isOpen && (
        <span class={left < SOON_MS ? "mark warn" : "mark quiet"}>
          {left > 0 ? ` ${durationText(left)} left` : ` ${durationText(left)} ago`}
        </span>
      )}
    </>
  );
}
