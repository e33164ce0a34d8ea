import { speakerName } from "@waybill/agent/adapter";

/** Items have no names, so the text of another agent contains its name. */
export function spokenBy(name: string, words: string): string {
  return `${speakerName(name)}: ${words}`;
}

/** The text without the speaker's name. */
export function withoutSpeaker(name: string, text: string): string {
  const speaker = spokenBy(name, "");
  return text.startsWith(speaker) ? text.slice(speaker.length) : text;
}
