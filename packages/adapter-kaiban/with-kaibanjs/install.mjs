// KaibanJS brings 250 MB, so it is no part of the workspace.
import process from "node:process";
import { installBeside } from "../../../.tools/apart.mjs";

// Its telemetry ends the process where there is no network.
process.env.KAIBAN_TELEMETRY_OPT_OUT = "1";

installBeside(import.meta.url);
