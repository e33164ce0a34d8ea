import { hubOf } from "./hub-of.ts";
import { beginLife } from "./life.ts";
import { startRecipient } from "./start-recipient.ts";

const life = beginLife();
await startRecipient(life, life.given[0]!, await hubOf(life.folder));
life.tell({ type: "ready" });
