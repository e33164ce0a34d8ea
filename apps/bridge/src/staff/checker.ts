import { serveConversation } from "@waybill/adapter-conversation";
import { join, seat } from "./join.ts";
import { modelClient } from "./model.ts";

await join((agent) => {
  agent.serve(
    ...serveConversation(
      {
        client: modelClient(),
        model: seat.model.name,
        name: seat.id,
        instructions:
          "You check facts for a newsroom. Say in one short sentence whether these can be printed.",
      },
      {
        name: "fact_check",
        description: "Says whether what is to be printed is true.",
        takes: "delegation",
        lease_seconds: 10,
        effects: "none",
      },
    ),
  );
});
