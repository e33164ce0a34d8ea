import { speakerName } from "@waybill/agent/adapter";

/** Items have no names, so what another agent says has its name in the words. */
export function spokenBy(name: string, words: string): string {
  return `${speakerName(name)}: ${words}`;
}

/** The words alone. */
export function withoutSpeaker(name: string, text: string): string {
  const speaker = spokenBy(name, "");
  return text.startsWith(speaker) ? text.slice(speaker.length) : text;
}
