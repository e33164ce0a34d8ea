import { render } from "preact";
import { config } from "zod";
import { App } from "./app.tsx";
import { restoreSession } from "./hub/session.ts";

// The page's policy forbids code that is made from text.
config({ jitless: true });

render(<App />, document.querySelector("#page")!);
void restoreSession();
