// OpenClaw brings 650 MB, so it is no part of the workspace.
import { installBeside } from "../../../.tools/apart.mjs";

installBeside(import.meta.url);
