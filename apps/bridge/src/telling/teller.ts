import type { Check } from "../proof/checks.ts";
import type { Figures } from "../proof/figures.ts";
import type { Published } from "../room/newsroom.ts";
import type { StoryEvent } from "../story/event.ts";

/** Presents the story to a person or a program. */
export interface Teller {
  begin(about: { readonly folder: string; readonly model: string }): void;
  tell(event: StoryEvent): void;
  /** Shows what was published, who did what when, and whether all of it is true. */
  end(ending: Ending): void;
}

export interface Ending {
  readonly published: Published;
  readonly events: readonly StoryEvent[];
  readonly checks: readonly Check[];
  readonly figures: Figures;
}
