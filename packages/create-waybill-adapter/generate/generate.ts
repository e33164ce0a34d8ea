// The published package contains a copy of the template. It is not committed, because adapter-echo is
// the template.
import { join } from "node:path";
import { writeTemplate } from "./template.ts";

writeTemplate(join(import.meta.dirname, "../dist/template"));
