import { farHub } from "../line/far-hub.ts";
import { HUB } from "../plan/plan.ts";
import { beginLife } from "./life.ts";
import { startRecipient } from "./start-recipient.ts";

const life = beginLife();
await startRecipient(life, life.given[0]!, farHub(life.folder.hubSocket, HUB));
life.tell({ type: "ready" });
